/* trial.h: what is kept for failures, tried and put back. Within ha/.
 *
 * While a trial is on, whatever spare_follow() is about to change is noted first; spare_undo() (spare.h) puts
 * it back, the last first. A copy of everything would take longer than most searches. */
#ifndef BALLAST_CORE_HA_TRIAL_H
#define BALLAST_CORE_HA_TRIAL_H

#include "core/ha/spare.h"

enum note_kind {
    NOTE_ROOM,    /* room and peak of a slot */
    NOTE_USED,    /* of[slot].items[ix].used */
    NOTE_KEPT,    /* an entry is added to of[slot] */
    NOTE_KEEPERS, /* an entry is added to at[slot] */
    NOTE_PLACE,   /* place_of[slot], a VM */
};

struct spare_note {
    enum note_kind kind;
    uint32_t slot, ix;
    double was[RES_COUNT], peak[RES_COUNT];
};

/* ix: of an entry, for NOTE_USED. Does nothing while no trial is on. */
void spare_note(struct spare *s, enum note_kind kind, uint32_t slot, uint32_t ix);

#endif
