/* reclaim_confirm.h: settings that had no effect on free memory until an upgrade wait for a person.
 *
 * Up to version 41 of the store, all memory that a VM had consumed had to be free on its destination,
 * whatever mem_overcommit and mem_admission said. A store from then has a note. While the note stands and the
 * settings would let the hypervisor reclaim memory, snapshots say of every VM that none of its memory may be
 * reclaimed (vm_facts.no_reclaim). `ballast confirm-setting`, or settings that reclaim nothing, end that. */
#ifndef BALLAST_ENGINE_RECLAIM_CONFIRM_H
#define BALLAST_ENGINE_RECLAIM_CONFIRM_H

#include "engine/engine.h"

#define NOTE_RECLAIM "mem_reclaim_unconfirmed"

/* After a restart: the note of the store; NULL: none. */
void reclaim_confirm_recall(struct engine *e, const char *note);

/* The settings have changed. */
void reclaim_confirm_configured(struct engine *e);

/* Before a snapshot is built. */
void reclaim_confirm_fill(const struct engine *e, struct inventory *inv);

#endif
