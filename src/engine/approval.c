/* Approves recommendations and rejects them: everything is checked first, and what changed is stored before
 * anything begins. Carrying out is actions/action_states.c. */
#include "engine/approval.h"

#include "base/rfc3339.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/power_preconditions.h"
#include "engine/admin_commands.h"
#include "engine/decide.h"
#include "engine/four_eyes.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/hosts.h"
#include "engine/observation.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool among(uint64_t id, const uint64_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

static int find_known(const struct engine *e, uint64_t id, struct action **ret, struct err *err)
{
    *ret = action_find(e, id);
    if (*ret)
        return 0;
    if (id > 0 && id <= e->actions->last_id)
        return err_set(err, -ENOENT,
                       "recommendation %llu ended long ago; `ballast recommendations` lists the "
                       "ones that are there",
                       (unsigned long long)id);
    return err_set(err, -EINVAL, "there is no recommendation %llu; `ballast recommendations` lists them",
                   (unsigned long long)id);
}

int approval_check_operation(const struct engine *e, const struct action_record *r, struct err *err)
{
    bool power = r->kind == ACTION_POWER_ON || r->kind == ACTION_POWER_OFF;
    const char *name = power ? snapshot_host_name(engine_snapshot(e), r->host) : NULL;

    if (power && hosts_can(e->knowledge->hosts, r->kind, r->host))
        return 0;
    if (e->settings.operations == 0)
        return err_set(
            err, -ENOTSUP, "this kind of source can only be looked at, nothing can be moved there%s",
            !power                    ? ""
            : e->settings.n_ways == 0 ? "; power.hosts in the configuration gives hosts ways to be "
                                        "switched"
                                      : ", and the host has no method below power.hosts");
    if (r->kind == ACTION_POWER_OFF && !hosts_can(e->knowledge->hosts, ACTION_POWER_ON, r->host))
        return err_set(
            err, -ENOTSUP,
            "this source cannot be asked to wake hosts: host %s would stay in standby; power.hosts "
            "in the configuration gives it a way to be woken",
            name);
    if (r->kind == ACTION_POWER_ON)
        return err_set(err, -ENOTSUP,
                       "host %s is to be switched on, which this source cannot be asked for: switch it on by "
                       "hand, and the next pass goes on from there",
                       name);
    if (!power && e->settings.operations & 1u << action_operation(r->kind))
        return 0;
    if (power)
        return err_set(err, -ENOTSUP,
                       "this source cannot be asked to put host %s to standby, and it has no other way to be "
                       "switched: power.hosts in the configuration gives it one",
                       name);
    return err_set(err, -ENOTSUP, "this source cannot be asked to %s",
                   r->kind == ACTION_PLACE     ? "power a VM on"
                   : r->kind == ACTION_MIGRATE ? "migrate a VM"
                                               : action_kind_meaning(r->kind));
}

/* Room for "3.2". */
#define NAME_MAX_OF_ACTION 40

/* The number as people read and type it: "3", and "3.2" once the destination has changed. */
static const char *typed_name(const struct action_record *r, char ret[NAME_MAX_OF_ACTION])
{
    if (r->version > 1)
        (void)snprintf(ret, NAME_MAX_OF_ACTION, "%llu.%u", (unsigned long long)r->id, r->version);
    else
        (void)snprintf(ret, NAME_MAX_OF_ACTION, "%llu", (unsigned long long)r->id);
    return ret;
}

/* How many of the recommendations have another destination than in the version that was read; *ret: the
 * first. */
static size_t count_redirected(const struct engine *e, const uint64_t *ids, const uint32_t *versions,
                               size_t n, size_t *ret)
{
    size_t changed = 0;

    for (size_t i = n; i > 0; i--) {
        const struct action *x = action_find(e, ids[i - 1]);

        if (x && x->r.state == ACTION_RECOMMENDED && x->r.version != (versions ? versions[i - 1] : 1)) {
            changed++;
            *ret = i - 1;
        }
    }
    return changed;
}

/* An approval is for the destination that the admin has read, not for that of a newer pass. */
static int check_versions(const struct engine *e, const uint64_t *ids, const uint32_t *versions, size_t n,
                          struct err *err)
{
    const struct snapshot *s = engine_snapshot(e);
    char name[NAME_MAX_OF_ACTION], since[RFC3339_MAX], others[96] = "";
    size_t first = 0;
    size_t changed = count_redirected(e, ids, versions, n, &first);

    if (changed == 0)
        return 0;
    const struct action_record *r = &action_find(e, ids[first])->r;
    uint32_t read = versions ? versions[first] : 1;

    (void)typed_name(r, name);
    if (read > r->version)
        return err_set(err, -EINVAL,
                       "recommendation %llu has no version %u, its newest is %s; `ballast recommendations` "
                       "lists it",
                       (unsigned long long)r->id, read, name);
    if (changed > 1)
        (void)snprintf(others, sizeof others, "; %zu more of these have another destination, too",
                       changed - 1);
    (void)rfc3339_format(r->redirected, since);
    return err_set(err, -ESTALE,
                   "recommendation %llu now goes to %s (until %.5s UTC to %s); `ballast apply %s` approves "
                   "that%s%s",
                   (unsigned long long)r->id, snapshot_host_name(s, r->to), since + strlen("YYYY-MM-DDT"),
                   snapshot_host_name(s, r->former_to), name, others,
                   n > 1 ? "; nothing was approved, the others neither" : "");
}

static int check_seen(const struct engine *e, const struct action *x, instant_s now, struct err *err)
{
    if (e->poll->state == SOURCE_LOST)
        return err_set(err, -EHOSTUNREACH, "no action can be started while the cluster cannot be read: %s",
                       e->poll->error.text);
    if (now - x->r.seen > source_poll_stale_after_s(e))
        return err_set(err, -ESTALE,
                       "recommendation %llu is based on the cluster %lld s ago; `ballast run` makes new ones",
                       (unsigned long long)x->r.id, (long long)(now - x->r.seen));
    if (x->r.pass != e->passes->last) /* a placement was begun since, and the room may be promised */
        return err_set(err, -ESTALE,
                       "recommendation %llu is from before VMs were placed, and does not count with them; "
                       "`ballast run` decides anew",
                       (unsigned long long)x->r.id);
    return 0;
}

/* What it needs must be approved before, or along with it. */
static int check_needs(const struct engine *e, const struct action *x, const uint64_t *ids, size_t n,
                       struct err *err)
{
    char name[NAME_MAX_OF_ACTION], other[NAME_MAX_OF_ACTION];

    (void)typed_name(&x->r, name);
    for (uint32_t i = 0; i < x->r.n_depends_on; i++) {
        uint64_t need = x->r.depends_on[i];
        const struct action *y = action_find(e, need);

        if (!y || (action_ended(y) && y->r.state != ACTION_DONE))
            return err_set(err, -ESTALE, "recommendation %llu depends on %llu, which did not happen",
                           (unsigned long long)x->r.id, (unsigned long long)need);
        if (y->r.state == ACTION_RECOMMENDED && !among(need, ids, n))
            return err_set(err, -EBUSY, "recommendation %s depends on %s: apply both, or that one first",
                           name, typed_name(&y->r, other));
    }
    for (size_t i = 0; action_needs_group(&x->r) && i < e->actions->n; i++) {
        const struct action *y = e->actions->list[i];

        if (y->r.group == x->r.group && y->r.pass == x->r.pass && y->r.state == ACTION_RECOMMENDED &&
            !among(y->r.id, ids, n))
            return err_set(err, -EBUSY, "recommendations %s and %s only make sense together: apply both",
                           name, typed_name(&y->r, other));
    }
    return 0;
}

/* A host is put to standby only if the preconditions hold now, for an admin's command too. */
static int check_power(const struct engine *e, const struct action *x, struct err *err)
{
    uint32_t ix = x->r.kind == ACTION_POWER_OFF ? snapshot_find_host(&e->now_seen->snap, x->r.host) : IX_NONE;

    return ix == IX_NONE ? 0 : power_preconditions_check_standby(e, ix, x, err);
}

static bool all_stored(const struct engine *e, const uint64_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (action_find(e, ids[i])->dirty)
            return false;
    }
    return true;
}

int engine_approve(struct engine *e, const uint64_t *ids, const uint32_t *versions, size_t n, const char *by,
                   instant_s now, struct err *err)
{
    char who[FOUR_EYES_BY_MAX];
    struct action *x;
    int r;

    if (e->paused)
        return err_set(err, -EBUSY, "the service is paused and starts nothing; `ballast resume` ends that");
    for (size_t i = 0; i < n; i++) {
        if ((r = find_known(e, ids[i], &x, err)) < 0)
            return r;
        if (x->r.state != ACTION_RECOMMENDED)
            return err_set(err, -EALREADY, "recommendation %llu is %s already: %s%s",
                           (unsigned long long)ids[i], action_state_name(x->r.state),
                           x->r.why ? x->r.why : action_state_meaning(x->r.state),
                           n > 1 ? "; nothing was approved, the others neither" : "");
        if ((r = approval_check_operation(e, &x->r, err)) < 0 || (r = check_seen(e, x, now, err)) < 0 ||
            (r = check_needs(e, x, ids, n, err)) < 0 || (r = check_power(e, x, err)) < 0)
            return r;
    }
    const struct four_eyes_request request = {FOUR_EYES_APPROVE, ids, versions, n, NULL, NULL};

    if ((r = check_versions(e, ids, versions, n, err)) < 0 ||
        (r = four_eyes_agree(e, &request, by, now, who, err)) < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        x = action_find(e, ids[i]);
        if (x->r.state == ACTION_RECOMMENDED) /* an id may be given twice */
            action_approve(e, x, who, now);
    }
    engine_tick(e, now);
    return all_stored(e, ids, n) ? 0 : admin_command_not_stored(e, "approved", err);
}

static void reject_with_dependents(struct engine *e, struct action *x, const char *by, instant_s now)
{
    char why[WHY_MAX];

    (void)snprintf(why, sizeof why, "rejected by %s", by);
    action_set_ended_by(e, x, by);
    action_enter(e, x, ACTION_REJECTED, why, now);
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *y = e->actions->list[i];

        if (y->r.state != ACTION_RECOMMENDED && y->r.state != ACTION_APPROVED)
            continue;
        if (among(x->r.id, y->r.depends_on, y->r.n_depends_on) ||
            (x->r.group != 0 && y->r.group == x->r.group && y->r.pass == x->r.pass))
            reject_with_dependents(e, y, by, now);
    }
}

int engine_reject(struct engine *e, const uint64_t *ids, size_t n, const char *by, instant_s now,
                  struct err *err)
{
    struct action *x;
    int r;

    for (size_t i = 0; i < n; i++) {
        if ((r = find_known(e, ids[i], &x, err)) < 0)
            return r;
        if (x->r.state != ACTION_RECOMMENDED && x->r.state != ACTION_APPROVED)
            return err_set(err, -EALREADY, "recommendation %llu is %s already, too late to reject it",
                           (unsigned long long)ids[i], action_state_name(x->r.state));
    }
    for (size_t i = 0; i < n; i++) {
        x = action_find(e, ids[i]);
        failed_moves_reject(e->knowledge->failed_moves, &x->r, by, now);
        if (!action_ended(x)) /* rejected along with an earlier one of the list */
            reject_with_dependents(e, x, by, now);
    }
    engine_tick(e, now);
    return all_stored(e, ids, n) ? 0 : admin_command_not_stored(e, "rejected", err);
}
