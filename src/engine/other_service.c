/* other_service.c: compares the moves of others with our own. */
#include "engine/other_service.h"

#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/knowledge.h"
#include "engine/observation.h"
#include "engine/persist.h"
#include "engine/state.h"

#include <stdio.h>
#include <string.h>

#define NO_CHANCE_S 3600 /* two signs this close are none */
#define TEXT_MAX 768

void other_service_recall(struct engine *e, const char *note)
{
    xstrset(&e->others_act, note);
}

static bool empties_host(enum reason reason)
{
    return reason_is_standby(reason) || reason == REASON_MAINTENANCE || reason == REASON_AGENT ||
           reason == REASON_QUARANTINE;
}

/* Approved, and not begun: its turn has not come, or it was cancelled because the VM was being moved. */
static bool was_to_come(const struct action_record *ours)
{
    return ours->started == 0 && (ours->state == ACTION_APPROVED || (ours->state == ACTION_CANCELLED &&
                                                                     ours->approved != 0 && !ours->ended_by));
}

static const char as_planned[] = "as this service was about to";
static const char taken_back[] = "where this service had moved it from";

/* What they did to a move of ours; NULL: nothing. */
static const char *done_to(const struct action_record *ours, const struct migration_record *theirs,
                           instant_s now)
{
    const bool by_itself = ours->approved_by && strcmp(ours->approved_by, APPROVED_BY_ENGINE) == 0;

    if (ours->kind != ACTION_MIGRATE || !by_itself || empties_host(ours->reason) ||
        (ours->ended != 0 && now - ours->ended > NO_CHANCE_S) || strcmp(ours->vm, theirs->vm) != 0)
        return NULL;
    if (was_to_come(ours) && strcmp(ours->to, theirs->to) == 0 && strcmp(ours->from, theirs->from) == 0)
        return as_planned;
    if (ours->state == ACTION_DONE && strcmp(ours->to, theirs->from) == 0 &&
        strcmp(ours->from, theirs->to) == 0)
        return taken_back;
    return NULL;
}

/* In service at the last inventory: what happens to a host's VMs while it comes or goes is no balancing. */
static bool serves(const struct observation *seen, const char *host)
{
    const uint32_t ix = snapshot_find_host(&seen->snap, host);

    return ix != IX_NONE && seen->snap.hosts[ix].is.state == HOST_ON;
}

/* As this service has seen: out of standby or maintenance, or after it was lost with its VMs. When a host
 * booted says nothing by itself: all hosts of a new cluster have just done so. */
static bool has_come(const struct engine *e, const char *host, instant_s now)
{
    const struct inventory *inv = &e->now_seen->seen.inventory;
    const struct known_host *k = hosts_find(e->knowledge->hosts, host);
    const uint32_t ix = snapshot_find_host(&e->now_seen->snap, host);
    const struct host_losses none = {0};
    const struct host_losses *losses = ix == IX_NONE ? &none : &e->now_seen->snap.hosts[ix].is.losses;
    instant_s since = k && k->r.on_since > losses->last ? k->r.on_since : losses->last;

    for (size_t i = 0; i < inv->n_hosts && losses->n > 0; i++) {
        if (inv->hosts[i].is.id && strcmp(inv->hosts[i].is.id, host) == 0 && inv->hosts[i].booted > since)
            since = inv->hosts[i].booted;
    }
    return since != 0 && now - since <= NO_CHANCE_S;
}

void other_service_moved(struct engine *e, const struct migration_record *theirs, instant_s now)
{
    const struct observation *seen = e->now_seen;
    const char *done = NULL;
    char text[TEXT_MAX];

    if (!serves(seen, theirs->to) || has_come(e, theirs->to, now))
        return;
    for (size_t i = 0; i < e->actions->n && !done; i++)
        done = done_to(&e->actions->list[i]->r, theirs, now);
    if (!done || (done == taken_back && e->others_acted == now))
        return;
    const bool again = e->others_acted != 0 && now - e->others_acted <= NO_CHANCE_S;

    e->others_acted = now;
    if (!again || e->others_act)
        return;
    (void)snprintf(text, sizeof text,
                   "another service, or the hypervisor's own balancing, moves the VMs of this cluster: for "
                   "the second time within an hour others moved one of them, VM %.100s from host %.100s to "
                   "host %.100s, %s. Nothing but wakes is approved without a person until `ballast "
                   "confirm-setting source` says that it has ended",
                   snapshot_vm_name(&seen->snap, theirs->vm), snapshot_host_name(&seen->snap, theirs->from),
                   snapshot_host_name(&seen->snap, theirs->to), done);
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
