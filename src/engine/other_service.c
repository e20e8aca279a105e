/* other_service.c: compares the moves of others with our own. */
#include "engine/other_service.h"

#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/observation.h"
#include "engine/persist.h"
#include "engine/state.h"

#include <stdio.h>
#include <string.h>

#define NO_CHANCE_S 3600 /* two such moves this close are none */
#define TEXT_MAX 768

void other_service_recall(struct engine *e, const char *note)
{
    xstrset(&e->others_act, note);
}

static bool empties_host(enum reason reason)
{
    return reason == REASON_MAINTENANCE || reason == REASON_STANDBY || reason == REASON_OFF_VM ||
           reason == REASON_AGENT || reason == REASON_QUARANTINE;
}

/* Approved, and not carried out by us: because its turn has not come, or because the VM was being moved. */
static bool was_to_come(const struct action_record *ours)
{
    return ours->state == ACTION_APPROVED ||
           (ours->state == ACTION_CANCELLED && ours->approved != 0 && !ours->ended_by);
}

/* What they did to a move of ours; NULL: nothing. */
static const char *done_to(const struct action_record *ours, const struct migration_record *theirs,
                           instant_s now)
{
    const bool by_itself = ours->approved_by && strcmp(ours->approved_by, APPROVED_BY_ENGINE) == 0;

    if (ours->kind != ACTION_MIGRATE || !by_itself || empties_host(ours->reason) ||
        (ours->ended != 0 && now - ours->ended > NO_CHANCE_S) || strcmp(ours->vm, theirs->vm) != 0)
        return NULL;
    if (was_to_come(ours) && strcmp(ours->to, theirs->to) == 0 && strcmp(ours->from, theirs->from) == 0)
        return "as this service was about to";
    if (ours->state == ACTION_DONE && strcmp(ours->to, theirs->from) == 0 &&
        strcmp(ours->from, theirs->to) == 0)
        return "where this service had moved it from";
    return NULL;
}

void other_service_moved(struct engine *e, const struct migration_record *theirs, instant_s now)
{
    const struct snapshot *s = &e->now_seen->snap;
    const char *done = NULL;
    char text[TEXT_MAX];

    for (size_t i = 0; i < e->actions->n && !done; i++)
        done = done_to(&e->actions->list[i]->r, theirs, now);
    if (!done)
        return;
    const bool again = e->others_acted != 0 && now - e->others_acted <= NO_CHANCE_S;

    e->others_acted = now;
    if (!again || e->others_act)
        return;
    (void)snprintf(text, sizeof text,
                   "another service, or the hypervisor's own balancing, moves the VMs of this cluster: for "
                   "the second time within "
                   "an hour others moved one of them, VM %.100s from host %.100s to host %.100s, %s. Nothing "
                   "but wakes is approved "
                   "without a person until `ballast confirm-setting source` says that it has ended",
                   snapshot_vm_name(s, theirs->vm), snapshot_host_name(s, theirs->from),
                   snapshot_host_name(s, theirs->to), done);
    xstrset(&e->others_act, text);
    e->changes++;
    e->persist->notes_dirty = true;
}

bool engine_confirm_alone(struct engine *e)
{
    const bool doubted = e->others_act;

    xstrset(&e->others_act, NULL);
    e->others_acted = 0;
    e->persist->notes_dirty = e->persist->notes_dirty || doubted;
    return doubted;
}

const char *engine_held_back(const struct engine *e)
{
    return e->held_back ? e->held_back : e->others_act;
}
