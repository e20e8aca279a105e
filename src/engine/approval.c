/* Approves recommendations and rejects them: everything is checked first, what cannot be decided on is left
 * out, and what changed is stored before anything begins. Carrying out is actions/action_states.c. */
#include "engine/approval.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/power_preconditions.h"
#include "engine/admin_commands.h"
#include "engine/decide.h"
#include "engine/four_eyes.h"
#include "engine/host_commands.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/rejections.h"
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

/* An approval is for the destination that the admin has read, not for that of a newer pass. */
static int check_version(const struct engine *e, const struct action *x, uint32_t read, struct err *err)
{
    char name[NAME_MAX_OF_ACTION], since[RFC3339_MAX];

    if (read == x->r.version)
        return 0;
    (void)typed_name(&x->r, name);
    if (read > x->r.version)
        return err_set(err, -EINVAL,
                       "recommendation %llu has no version %u, its newest is %s; `ballast recommendations` "
                       "lists it",
                       (unsigned long long)x->r.id, read, name);
    (void)rfc3339_format(x->r.redirected, since);
    return err_set(
        err, -ESTALE,
        "recommendation %llu now goes to %s (until %.5s UTC to %s); `ballast apply %s` approves that",
        (unsigned long long)x->r.id, snapshot_host_name(engine_snapshot(e), x->r.to),
        since + strlen("YYYY-MM-DDT"), snapshot_host_name(engine_snapshot(e), x->r.former_to), name);
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

/* ---- several at once ---- */

/* Those of the named ones that are still to be decided on. */
struct choice {
    uint64_t *ids;
    uint32_t *versions;
    size_t n;
    instant_s for_s; /* of a rejection */
};

/* Why the choice's recommendation i cannot be decided on so; 0: it can. */
typedef int choice_check(const struct engine *e, const struct choice *c, size_t i, instant_s now,
                         struct err *err);

static int check_approval(const struct engine *e, const struct choice *c, size_t i, instant_s now,
                          struct err *err)
{
    struct action *x;
    int r = find_known(e, c->ids[i], &x, err);

    if (r < 0)
        return r;
    if (x->r.state != ACTION_RECOMMENDED)
        return err_set(err, -EALREADY, "recommendation %llu is %s already: %s", (unsigned long long)x->r.id,
                       action_state_name(x->r.state), x->r.why ? x->r.why : action_state_meaning(x->r.state));
    if ((r = check_version(e, x, c->versions[i], err)) < 0 ||
        (r = approval_check_operation(e, &x->r, err)) < 0 || (r = check_seen(e, x, now, err)) < 0 ||
        (r = check_needs(e, x, c->ids, c->n, err)) < 0)
        return r;
    return check_power(e, x, err);
}

static int check_rejection(const struct engine *e, const struct choice *c, size_t i, instant_s now,
                           struct err *err)
{
    struct action *x;
    int r = find_known(e, c->ids[i], &x, err);

    if (r < 0 || x->r.state == ACTION_RECOMMENDED || x->r.state == ACTION_APPROVED)
        return r;
    const bool holds =
        x->r.state == ACTION_REJECTED && rejections_find(e->knowledge->failed_moves, &x->r, now) != 0;

    if (holds && c->for_s != 0)
        return 0;
    return err_set(err, -EALREADY, "recommendation %llu is %s already%s", (unsigned long long)x->r.id,
                   action_state_name(x->r.state),
                   holds ? "; `ballast reject --for TIME` changes for how long" : ", too late to reject it");
}

/* A wake because capacity is missing, or must be there in time. */
static bool is_needed_wake(const struct action_record *r)
{
    return r->kind == ACTION_POWER_ON && r->reason != REASON_EXPECTED_DEMAND && r->reason != REASON_WAKE_TEST;
}

/* Whoever rejects a list, or what a filter finds, may not have seen the wake in it. */
static int check_rejection_of_several(const struct engine *e, const struct choice *c, size_t i, instant_s now,
                                      struct err *err)
{
    int r = check_rejection(e, c, i, now, err);

    if (r == 0 && is_needed_wake(&action_find(e, c->ids[i])->r))
        r = err_set(err, -EPERM,
                    "recommendation %llu wakes a host that is needed, and is only rejected alone, by its "
                    "number: `ballast reject %llu`",
                    (unsigned long long)c->ids[i], (unsigned long long)c->ids[i]);
    return r;
}

/* Leaves out what the check refuses, and then what needed that. None is left: the first one's error. */
static int choose(const struct engine *e, choice_check *check, const uint64_t *ids, const uint32_t *versions,
                  size_t n, instant_s now, struct choice *ret, struct left_outs *ret_rest, struct err *err)
{
    struct err first = {0};
    size_t before = n + 1;

    ret->ids = arena_array(ret_rest->a, uint64_t, n);
    ret->versions = arena_array(ret_rest->a, uint32_t, n);
    ret_rest->list = arena_array(ret_rest->a, struct left_out, n);
    for (ret->n = 0; ret->n < n; ret->n++) {
        ret->ids[ret->n] = ids[ret->n];
        ret->versions[ret->n] = versions ? versions[ret->n] : 1;
    }
    while (ret->n < before && ret->n > 0) {
        const struct choice asked = *ret;
        bool *fine = arena_array(ret_rest->a, bool, asked.n);

        before = asked.n;
        for (size_t i = 0; i < asked.n; i++) {
            struct err why = {0};

            fine[i] = check(e, &asked, i, now, &why) == 0;
            if (!fine[i])
                ret_rest->list[ret_rest->n++] =
                    (struct left_out){asked.ids[i], arena_strdup(ret_rest->a, why.text)};
            if (!fine[i] && first.code == 0)
                first = why;
        }
        ret->n = 0;
        for (size_t i = 0; i < asked.n; i++) {
            ret->ids[ret->n] = asked.ids[i];
            ret->versions[ret->n] = asked.versions[i];
            ret->n += fine[i];
        }
    }
    if (ret->n > 0)
        return 0;
    return err_set(err, first.code, "%.440s%s", first.text,
                   n > 1 ? "; nor could any of the others be decided on" : "");
}

int engine_approve(struct engine *e, const uint64_t *ids, const uint32_t *versions, size_t n, const char *by,
                   instant_s now, struct left_outs *ret, struct err *err)
{
    CLEANUP(arena_releasep) struct arena own = {0};
    struct left_outs rest = {.a = &own};
    char who[FOUR_EYES_BY_MAX];
    struct choice c = {0};
    int r;

    ret = ret ? ret : &rest;
    if (e->paused)
        return err_set(err, -EBUSY, "the service is paused and starts nothing; `ballast resume` ends that");
    if ((r = choose(e, check_approval, ids, versions, n, now, &c, ret, err)) < 0)
        return r;
    const struct four_eyes_request request = {FOUR_EYES_APPROVE, c.ids, c.versions, c.n, NULL, NULL};

    if ((r = four_eyes_agree(e, &request, by, now, who, err)) < 0)
        return ret->n == 0
                   ? r
                   : err_widen(err, "left out are %zu, at first because %.150s", ret->n, ret->list[0].why);
    for (size_t i = 0; i < c.n; i++) {
        struct action *x = action_find(e, c.ids[i]);

        if (x->r.state == ACTION_RECOMMENDED) /* an id may be given twice */
            action_approve(e, x, who, now);
    }
    engine_tick(e, now);
    return all_stored(e, c.ids, c.n) ? 0 : admin_command_not_stored(e, "approved", err);
}

static void enter_rejected(struct engine *e, struct action *x, const char *why, const char *by, instant_s now)
{
    char along[WHY_MAX];

    (void)snprintf(along, sizeof along, "rejected by %s", by);
    action_set_ended_by(e, x, by);
    action_enter(e, x, ACTION_REJECTED, why ? why : along, now);
}

/* Nothing is rejected along with another that a person has to name. */
static void reject_dependents(struct engine *e, const struct action *x, const char *by, instant_s now)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *y = e->actions->list[i];

        if ((y->r.state != ACTION_RECOMMENDED && y->r.state != ACTION_APPROVED) || is_needed_wake(&y->r))
            continue;
        if (among(x->r.id, y->r.depends_on, y->r.n_depends_on) ||
            (x->r.group != 0 && y->r.group == x->r.group && y->r.pass == x->r.pass)) {
            enter_rejected(e, y, NULL, by, now);
            reject_dependents(e, y, by, now);
        }
    }
}

/* Remembers what is rejected: of a move off a host that the service empties, that. */
static void reject(struct engine *e, struct action *x, instant_s for_s, const char *by, instant_s now)
{
    struct action *emptying = host_commands_find_emptying(e, &x->r);
    const struct action_record *of = emptying ? &emptying->r : &x->r;
    char what[WHY_MAX - FOUR_EYES_BY_MAX - 16], why[WHY_MAX];
    instant_s until = rejections_add(e->knowledge->failed_moves, of, for_s, by, now);

    if (until != 0) {
        rejections_tell(of,
                        of->kind == ACTION_MIGRATE ? snapshot_vm_name(engine_snapshot(e), of->vm)
                                                   : snapshot_host_name(engine_snapshot(e), of->host),
                        until, what, sizeof what);
        (void)snprintf(why, sizeof why, "rejected by %.*s: %s", FOUR_EYES_BY_MAX, by, what);
    }
    enter_rejected(e, x, until != 0 ? why : NULL, by, now);
}

/* Afterwards, so that each of a list is rejected itself, while its host is still being emptied. */
static void stop_what_needs(struct engine *e, const struct action *x, const char *by, instant_s now)
{
    reject_dependents(e, x, by, now);
    struct action *emptying = host_commands_find_emptying(e, &x->r);

    if (emptying)
        host_commands_stop_emptying(e, emptying, &x->r, by, now);
}

int engine_reject(struct engine *e, const uint64_t *ids, size_t n, bool selected, instant_s for_s,
                  const char *by, instant_s now, struct left_outs *ret, struct err *err)
{
    CLEANUP(arena_releasep) struct arena own = {0};
    struct left_outs rest = {.a = &own};
    struct choice c = {.for_s = for_s};

    ret = ret ? ret : &rest;
    int r = choose(e, n > 1 || selected ? check_rejection_of_several : check_rejection, ids, NULL, n, now, &c,
                   ret, err);

    for (size_t i = 0; r == 0 && i < c.n; i++)
        if (!among(c.ids[i], c.ids, i))
            reject(e, action_find(e, c.ids[i]), for_s, by, now);
    for (size_t i = 0; r == 0 && i < c.n; i++)
        stop_what_needs(e, action_find(e, c.ids[i]), by, now);
    if (r < 0)
        return r;
    engine_tick(e, now);
    return all_stored(e, c.ids, c.n) ? 0 : admin_command_not_stored(e, "rejected", err);
}
