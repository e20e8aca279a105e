/* Notes what a tried move changes in failover capacity, and restores it. */
#include "core/layout/failover_internal.h"

void failover_undo_note(struct failover_capacity *s, enum failover_note_kind kind, uint32_t slot, uint32_t ix)
{
    if (!s->trying)
        return;
    struct failover_note note = {.kind = kind, .slot = slot, .ix = ix};
    for (int r = 0; r < RES_COUNT; r++) {
        if (kind == NOTE_AMOUNT) {
            note.was[r] = s->reserved[r][slot];
            note.peak[r] = s->peak[r][slot];
        }
        if (kind == NOTE_USED)
            note.was[r] = s->by_lost[slot].items[ix].used[r];
    }
    if (kind == NOTE_SLOT)
        note.ix = s->slot_of[slot];
    s->notes = arena_grow(s->a, s->notes, s->n_notes, &s->cap_notes, sizeof s->notes[0]);
    s->notes[s->n_notes++] = note;
}

static void put_back(struct failover_capacity *s, const struct failover_note *note)
{
    switch (note->kind) {
    case NOTE_AMOUNT:
        for (int r = 0; r < RES_COUNT; r++) {
            s->reserved[r][note->slot] = note->was[r];
            s->peak[r][note->slot] = note->peak[r];
        }
        break;
    case NOTE_USED:
        for (int r = 0; r < RES_COUNT; r++)
            s->by_lost[note->slot].items[note->ix].used[r] = note->was[r];
        break;
    case NOTE_RESERVED:
        s->by_lost[note->slot].n--;
        break;
    case NOTE_HOLDERS:
        s->by_holder[note->slot].n--;
        break;
    case NOTE_SLOT:
        s->slot_of[note->slot] = note->ix;
        break;
    }
}

void failover_undo_begin(struct failover_capacity *s)
{
    s->trying = true;
    s->n_notes = 0;
}

void failover_undo(struct failover_capacity *s)
{
    while (s->n_notes > 0)
        put_back(s, &s->notes[--s->n_notes]);
    s->trying = false;
}
