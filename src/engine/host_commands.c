/* host_commands.c: what an admin asks of a host: maintenance, standby, waking. */
#include "engine/host_commands.h"

#include "base/cleanup.h"
#include "base/wake_method.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/own_maintenance.h"
#include "engine/actions/power_outcome.h"
#include "engine/actions/power_preconditions.h"
#include "engine/admin_commands.h"
#include "engine/approval.h"
#include "engine/decide.h"
#include "engine/four_eyes.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/identities.h"
#include "engine/observation.h"
#include "engine/obstacle.h"
#include "engine/persist.h"
#include "engine/source_poll.h"
#include "engine/state.h"
#include "model/named.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- common ---------------------------------------------------------------------------------- */

static struct action *find_host_action(const struct engine *e, enum action_kind kind, const char *host)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];

        if (x->r.kind == kind && action_committed(x) && strcmp(x->r.host, host) == 0)
            return x;
    }
    return NULL;
}

static int find_host(const struct snapshot *s, const char *word, uint32_t *ret, struct err *err)
{
    struct err why = {0};
    int r = named_host(s, word, ret, &why);

    return r < 0 ? err_set(err, r, "%s%s `ballast hosts` lists them", why.text,
                           why.text[strlen(why.text) - 1] == '?' ? "" : ";")
                 : 0;
}

static bool host_actions_stored(const struct engine *e, const char *host)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *x = e->actions->list[i];

        if (x->dirty && x->r.host && strcmp(x->r.host, host) == 0)
            return false;
    }
    return true;
}

static uint64_t add_host_action(struct engine *e, enum action_kind kind, enum reason reason, const char *host,
                                const char *text, const char *by, instant_s now)
{
    const struct action_record r = {
        .kind = kind,
        .state = ACTION_RECOMMENDED,
        .priority = 1,
        .host = host,
        .reason = reason,
        .text = text,
        .imbalance_after = UNKNOWN,
        .created = now,
        .seen = now,
    };
    struct action *x = action_add(e, &r);

    action_approve(e, x, by, now);
    e->passes->next = now; /* passes are to see it */
    return x->r.id;
}

/* Whether two people want it, where it takes two. verb and end are around the host's name; `detail` tells
 * requests of the same action apart. */
static int agree(struct engine *e, enum four_eyes_action action, const struct host_facts *h, const char *verb,
                 const char *end, const char *detail, const char *by, instant_s now,
                 char ret_by[FOUR_EYES_BY_MAX], struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct four_eyes_request q = {
        .action = action,
        .key = detail ? arena_printf(&a, "%s\n%s", h->id, detail) : h->id,
        .what = arena_printf(&a, "%s host %.100s%s", verb, h->name, end),
    };

    return four_eyes_agree(e, &q, by, now, ret_by, err);
}

/* Cancels it, because of what a person wants; `wish` follows the person's name. */
static void take_back(struct engine *e, struct action *x, const char *wish, const char *by, instant_s now)
{
    char why[WHY_MAX];

    (void)snprintf(why, sizeof why, "%s %s", by, wish);
    action_set_ended_by(e, x, by);
    action_cancel(e, x, why, now);
}

/* The host as it was last seen, which it must have been; also one that sleeps and left the inventory. */
static int find_seen(const struct engine *e, const char *word, const struct host_facts **ret, struct err *err)
{
    uint32_t ix = IX_NONE;
    int r;

    if (!e->now_seen || e->poll->state == SOURCE_LOST)
        return err_set(err, -EHOSTUNREACH, "the cluster %s",
                       e->now_seen ? "cannot be read now; `ballast status` shows why"
                                   : "has not been read yet; `ballast status` shows when it is");
    if ((r = find_host(&e->now_seen->snap, word, &ix, err)) < 0)
        return r;
    *ret = &e->now_seen->snap.hosts[ix].is;
    return 0;
}

/* The same, of a host that the source lists. */
static int find_listed(const struct engine *e, const char *word, const struct host_facts **ret,
                       struct err *err)
{
    int r = find_seen(e, word, ret, err);

    if (r < 0 || !(*ret)->left_inventory)
        return r;
    return err_set(err, -EBUSY,
                   "host %s sleeps and is not in the inventory any more: it can be woken, and nothing else",
                   (*ret)->name);
}

/* ---- maintenance ----------------------------------------------------------------------------- */

/* What was approved of the host's power; ret: 0 for what there was not. What has not begun is cancelled, what
 * has begun goes on, and the person is told of both. The wake first: one that waits for the standby would be
 * cancelled with it. */
static void take_power_back(struct engine *e, const char *host, const char *by, instant_s now,
                            uint64_t ret[POWER_CHANGES])
{
    static const enum action_kind kinds[POWER_CHANGES] = {ACTION_POWER_ON, ACTION_POWER_OFF};

    for (size_t i = 0; i < POWER_CHANGES; i++) {
        struct action *x = find_host_action(e, kinds[i], host);

        if (!x)
            continue;
        ret[i] = x->r.id;
        if (x->r.state == ACTION_APPROVED)
            take_back(e, x, "wants the host in maintenance", by, now);
    }
}

/* What the maintenance takes of the failover capacity that the policies keep; NULL: nothing. */
static const char *capacity_given_up(const struct engine *e, const struct host_facts *h, struct arena *a)
{
    const struct snapshot *s = &e->now_seen->snap;
    struct plan now, then;

    if (h->state != HOST_ON || (s->ha.policy == HA_NONE && !s->ha_configured.given))
        return NULL;
    (void)obstacle_find(e, CHANGE_MAINTENANCE, h->id, a, &now, &then);
    return obstacle_capacity_given_up(&now, &then, a);
}

/* of_roll: two people have asked for it, if it takes two, and it takes no failover capacity. */
static int enter_maintenance(struct engine *e, const struct host_facts *h, bool of_roll, bool confirmed,
                             const char *by, instant_s now, uint64_t *ret_id,
                             uint64_t ret_power[POWER_CHANGES], struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *text = "an admin asked for maintenance";
    char who[FOUR_EYES_BY_MAX];
    int r;
    struct action *x = find_host_action(e, ACTION_ENTER_MAINTENANCE, h->id);

    if (x) {
        *ret_id = x->r.id;
        return 0;
    }
    if (h->state == HOST_MAINTENANCE) {
        *ret_id = 0;
        return 0;
    }
    if (h->state == HOST_DISCONNECTED)
        return err_set(err, -EBUSY, "host %s is disconnected: only a connected host can enter maintenance",
                       h->name);
    if (find_host_action(e, ACTION_EXIT_MAINTENANCE, h->id))
        return err_set(err, -EBUSY, "host %s is leaving maintenance just now", h->name);
    const char *lost = of_roll ? NULL : capacity_given_up(e, h, &a);
    if (lost && !confirmed)
        return err_set(err, -ENOANO,
                       "the maintenance of host %.100s gives up failover capacity: %.200s Nothing has begun; "
                       "--yes, or \"yes\" in a request, confirms it",
                       h->name, lost);
    if (lost)
        text = arena_printf(&a, "%s and confirmed that it gives up failover capacity: %s", text, lost);
    (void)snprintf(who, sizeof who, "%s", by);
    if (!of_roll &&
        (r = agree(e, FOUR_EYES_MAINTENANCE, h, "take", " out of service", NULL, by, now, who, err)) < 0)
        return r;
    take_power_back(e, h->id, by, now, ret_power);
    *ret_id = add_host_action(e, ACTION_ENTER_MAINTENANCE, REASON_MAINTENANCE, h->id, text, who, now);
    return 0;
}

/* The host is wanted again, so what was to empty it and has not begun is not begun any more. */
static void end_evacuation(struct engine *e, struct action *wish, const char *why, const char *by,
                           instant_s now)
{
    action_set_ended_by(e, wish, by);
    action_enter(e, wish, ACTION_CANCELLED, why, now);
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];

        if (x->r.state == ACTION_APPROVED && x->r.reason == REASON_MAINTENANCE && x->r.from &&
            strcmp(x->r.from, wish->r.host) == 0) {
            action_set_ended_by(e, x, by);
            action_enter(e, x, ACTION_CANCELLED, why, now);
        }
    }
    e->passes->next = now;
}

static int exit_maintenance(struct engine *e, const struct host_facts *h, const char *by, instant_s now,
                            uint64_t *ret_id, struct err *err)
{
    char why[WHY_MAX];
    struct action *x = find_host_action(e, ACTION_ENTER_MAINTENANCE, h->id);
    const bool withdrawn = four_eyes_withdraw(e, FOUR_EYES_MAINTENANCE, h->id, by, now);

    *ret_id = 0;
    if (x && x->r.state == ACTION_APPROVED) { /* still being evacuated: nothing to undo */
        *ret_id = x->r.id;
        (void)snprintf(why, sizeof why, "%s put the host back into service", by);
        end_evacuation(e, x, why, by, now);
        return 0;
    }
    if (x && x->r.state == ACTION_RUNNING) {
        *ret_id = x->r.id;
        x->r.cancel_asked = true;
        action_set_ended_by(e, x, by);
        return 0;
    }
    if (x)
        return err_set(err, -EBUSY, "host %s is just entering maintenance; try again in a moment", h->name);
    x = find_host_action(e, ACTION_EXIT_MAINTENANCE, h->id);
    if (x) {
        *ret_id = x->r.id;
        return 0;
    }
    if (h->state != HOST_MAINTENANCE && h->state != HOST_ENTERING_MAINTENANCE &&
        !own_maintenance_is_marked(e, h->id))
        return withdrawn ? 0
                         : err_set(err, -EBUSY, "host %s is not in maintenance, it is %s", h->name,
                                   host_state_name(h->state));
    *ret_id = add_host_action(e, ACTION_EXIT_MAINTENANCE, REASON_MAINTENANCE, h->id,
                              "an admin ended the maintenance", by, now);
    return 0;
}

struct action *host_commands_find_emptying(const struct engine *e, const struct action_record *move)
{
    if (move->kind != ACTION_MIGRATE ||
        (move->reason != REASON_MAINTENANCE && move->reason != REASON_STANDBY))
        return NULL;
    struct action *x = find_host_action(
        e, move->reason == REASON_STANDBY ? ACTION_POWER_OFF : ACTION_ENTER_MAINTENANCE, move->from);

    return x && x->r.state == ACTION_APPROVED ? x : NULL;
}

void host_commands_stop_emptying(struct engine *e, struct action *x, const struct action_record *move,
                                 const char *by, instant_s now)
{
    const bool maintenance = x->r.kind == ACTION_ENTER_MAINTENANCE;
    char why[WHY_MAX];

    (void)snprintf(why, sizeof why, "%s rejected that VM %s leaves the host, which stops its %s", by,
                   snapshot_vm_name(engine_snapshot(e), move->vm), maintenance ? "maintenance" : "standby");
    if (maintenance) {
        end_evacuation(e, x, why, by, now);
        return;
    }
    action_set_ended_by(e, x, by);
    action_cancel(e, x, why, now);
}

int host_commands_enter_maintenance(struct engine *e, const char *host, const char *by, instant_s now,
                                    uint64_t *ret_id, struct err *err)
{
    uint64_t power[POWER_CHANGES] = {0};
    const struct host_facts *h = NULL;
    int r = find_listed(e, host, &h, err);

    return r < 0 ? r : enter_maintenance(e, h, true, false, by, now, ret_id, power, err);
}

int host_commands_find(const struct engine *e, const char *word, const struct host_facts **ret,
                       struct err *err)
{
    return find_listed(e, word, ret, err);
}

int engine_maintenance(struct engine *e, const char *host, enum maintenance_mode mode, const char *by,
                       instant_s now, uint64_t *ret_id, uint64_t ret_power[POWER_CHANGES], struct err *err)
{
    uint64_t power[POWER_CHANGES] = {0};
    const bool enter = mode != MAINTENANCE_EXIT;
    enum operation_kind operation = enter ? OPERATION_ENTER_MAINTENANCE : OPERATION_EXIT_MAINTENANCE;
    const struct host_facts *h = NULL;
    int r;

    if ((r = find_listed(e, host, &h, err)) < 0)
        return r;
    if (!own_maintenance_or_source_can(e, 1u << operation))
        return err_set(err, -ENOTSUP, "maintenance mode is not something that this source can be asked for");
    r = enter
            ? enter_maintenance(e, h, false, mode == MAINTENANCE_ENTER_CONFIRMED, by, now, ret_id, power, err)
            : exit_maintenance(e, h, by, now, ret_id, err);
    if (ret_power)
        memcpy(ret_power, power, sizeof power);
    engine_tick(e, now);
    if (r == 0 && !host_actions_stored(e, h->id))
        return admin_command_not_stored(e, enter ? "begun" : "ended", err);
    return r;
}

/* ---- standby and waking ---------------------------------------------------------------------- */

static int check_power_operations(const struct engine *e, const char *host, bool down, struct err *err)
{
    const struct action_record wake = {.kind = ACTION_POWER_ON, .host = host};
    const struct action_record sleep = {.kind = ACTION_POWER_OFF, .host = host};
    int r = down ? approval_check_operation(e, &sleep, err) : 0;

    if (r == 0)
        r = approval_check_operation(e, &wake, err);
    if (r == 0 && down)
        r = identities_check(e->knowledge->identities, e->knowledge->hosts, host, err);
    if (r == 0 && e->paused)
        r = err_set(err, -EBUSY, "the service is paused and starts nothing; `ballast resume` ends that");
    return r;
}

static uint64_t add_standby(struct engine *e, const struct host_facts *h, enum reason reason,
                            const char *text, const char *by, instant_s now)
{
    struct action *x = find_host_action(e, ACTION_POWER_ON, h->id);

    if (x && x->r.state == ACTION_APPROVED) /* it was to be woken, and is on already */
        take_back(e, x, "wants the host in standby", by, now);
    return add_host_action(e, ACTION_POWER_OFF, reason, h->id, text, by, now);
}

int engine_standby(struct engine *e, const char *host, const char *by, instant_s now, uint64_t *ret_id,
                   struct err *err)
{
    const struct host_facts *h = NULL;
    char who[FOUR_EYES_BY_MAX];
    int r;

    if ((r = find_listed(e, host, &h, err)) < 0)
        return r;
    (void)four_eyes_withdraw(e, FOUR_EYES_WAKE, h->id, by, now);
    const struct action *x = find_host_action(e, ACTION_POWER_OFF, h->id);
    struct action *up = find_host_action(e, ACTION_POWER_ON, h->id);

    *ret_id = x ? x->r.id : 0;
    if (h->state == HOST_STANDBY && up && up->r.state == ACTION_APPROVED) { /* taken back */
        *ret_id = up->r.id;
        take_back(e, up, "wants the host in standby", by, now);
        e->passes->next = now;
        return 0;
    }
    if (x && up && x->r.reason == REASON_WAKE_TEST)
        return err_set(err, -EBUSY, "host %s is tested, and wakes again: ask then, or `ballast wake` it",
                       h->name);
    if (x || h->state == HOST_STANDBY ||
        (h->state == HOST_ENTERING_STANDBY && !power_outcome_host_off_uncertain(e, h->id, now)))
        return 0;
    if ((r = check_power_operations(e, h->id, true, err)) < 0 ||
        (r = power_preconditions_check_standby(e, snapshot_find_host(&e->now_seen->snap, h->id), NULL, err)) <
            0 ||
        (r = agree(e, FOUR_EYES_STANDBY, h, "put", " to standby", NULL, by, now, who, err)) < 0)
        return r;
    *ret_id = add_standby(e, h, REASON_ASKED, "an admin asked for standby", who, now);
    engine_tick(e, now);
    return host_actions_stored(e, h->id) ? 0 : admin_command_not_stored(e, "begun", err);
}

/* Which method the wake is a test of; 0: of none. */
static void set_method(struct engine *e, uint64_t id, unsigned method)
{
    struct action *x = action_find(e, id);

    x->r.wake_method = method;
    action_changed(e, x);
}

static int check_method(const struct engine *e, const struct host_facts *h, unsigned method, struct err *err)
{
    const unsigned methods = hosts_wake_methods(e->knowledge->hosts, h->id);
    char list[64] = "";

    if (method == 0 || (methods & method))
        return 0;
    for (unsigned i = 0; i < WAKE_METHODS; i++) {
        if (methods & WAKE_METHOD(i))
            (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "",
                           wake_method_name(WAKE_METHOD(i)));
    }
    return err_set(err, -EINVAL, "host %s has no method %s to be woken by, expected one of: %s", h->name,
                   wake_method_name(method), *list ? list : "none");
}

/* It is on: down and up again, which is the proof. */
static int prove_wake(struct engine *e, const struct host_facts *h, unsigned method, const char *by,
                      instant_s now, uint64_t *ret_ids, struct err *err)
{
    const struct action probe = {.r = {.kind = ACTION_POWER_OFF, .reason = REASON_WAKE_TEST, .host = h->id}};
    /* it is a standby, too */
    const enum four_eyes_action of = four_eyes_chosen(e, FOUR_EYES_WAKE) ? FOUR_EYES_WAKE : FOUR_EYES_STANDBY;
    const char *detail = method ? wake_method_name(method) : "verify";
    char who[FOUR_EYES_BY_MAX];
    int r = check_power_operations(e, h->id, true, err);

    if (r < 0 ||
        (r = power_preconditions_check_standby(e, snapshot_find_host(&e->now_seen->snap, h->id), &probe,
                                               err)) < 0 ||
        (r = agree(e, of, h, "test that", " wakes", detail, by, now, who, err)) < 0)
        return r;
    ret_ids[0] = add_standby(e, h, REASON_WAKE_TEST, "an admin asked for a proof that it wakes", who, now);
    ret_ids[1] = add_host_action(e, ACTION_POWER_ON, REASON_WAKE_TEST, h->id,
                                 "an admin asked for a proof that it wakes", who, now);
    action_set_depends(e, action_find(e, ret_ids[1]), ret_ids, 1);
    set_method(e, ret_ids[1], method);
    return 0;
}

/* It sleeps, or goes down just now. */
static int wake_up(struct engine *e, const struct host_facts *h, const struct action *down, unsigned method,
                   const char *by, instant_s now, uint64_t *ret_ids, struct err *err)
{
    char who[FOUR_EYES_BY_MAX];
    int r = check_power_operations(e, h->id, false, err);

    if (r < 0 || (r = agree(e, FOUR_EYES_WAKE, h, "wake", "", method ? wake_method_name(method) : NULL, by,
                            now, who, err)) < 0)
        return r;
    ret_ids[0] = add_host_action(e, ACTION_POWER_ON, REASON_ASKED, h->id, "requested by an admin", who, now);
    set_method(e, ret_ids[0], method);
    if (down)
        action_set_depends(e, action_find(e, ret_ids[0]), &down->r.id, 1);
    return 0;
}

static int wake(struct engine *e, const struct host_facts *h, bool verify, unsigned method, const char *by,
                instant_s now, uint64_t *ret_ids, struct err *err)
{
    struct action *down = find_host_action(e, ACTION_POWER_OFF, h->id);
    const struct action *up = find_host_action(e, ACTION_POWER_ON, h->id);

    int r = check_method(e, h, method, err);

    if (r < 0)
        return r;
    if (!verify)
        (void)four_eyes_withdraw(e, FOUR_EYES_STANDBY, h->id, by, now);
    if (down && down->r.state == ACTION_APPROVED && !verify) { /* nothing has been asked yet: taken back */
        ret_ids[0] = down->r.id;
        take_back(e, down, "wants the host on", by, now);
        hosts_wanted(e->knowledge->hosts, h->id, REASON_ASKED, now);
        e->passes->next = now;
        return 0;
    }
    if (up && method != 0 && up->r.wake_method != method)
        return err_set(err, -EBUSY, "host %s is to be woken already; try again when that is over", h->name);
    if (up) {
        ret_ids[0] = down ? down->r.id : up->r.id;
        ret_ids[1] = down ? up->r.id : 0;
        return 0;
    }
    if (down || h->state == HOST_STANDBY)
        return wake_up(e, h, down, method, by, now, ret_ids, err);
    if (h->state == HOST_ON && verify)
        return prove_wake(e, h, method, by, now, ret_ids, err);
    if (h->state == HOST_ON) /* and stays so */
        hosts_wanted(e->knowledge->hosts, h->id, REASON_ASKED, now);
    if (h->state == HOST_ON || h->state == HOST_POWERING_ON)
        return 0;
    if (h->state == HOST_DISCONNECTED)
        return err_set(
            err, -EBUSY,
            "host %s is disconnected, and was not put to standby by this service: check its power and its "
            "connection to the hypervisor's manager",
            h->name);
    return err_set(err, -EBUSY, "host %s is %s: only a host in standby can be woken%s", h->name,
                   host_state_name(h->state),
                   h->state == HOST_ENTERING_STANDBY ? "; ask again when it is there"
                                                     : "; `ballast maintenance exit` puts it into service");
}

static int request_wake(struct engine *e, const char *host, bool verify, unsigned method, const char *by,
                        instant_s now, uint64_t ret_ids[WAKE_ACTIONS], struct err *err)
{
    const struct host_facts *h = NULL;
    int r;

    memset(ret_ids, 0, WAKE_ACTIONS * sizeof *ret_ids);
    if ((r = find_seen(e, host, &h, err)) < 0 || (r = wake(e, h, verify, method, by, now, ret_ids, err)) < 0)
        return r;
    engine_tick(e, now);
    return host_actions_stored(e, h->id) ? 0 : admin_command_not_stored(e, "begun", err);
}

int engine_wake(struct engine *e, const char *host, bool verify, const char *by, instant_s now,
                uint64_t ret_ids[WAKE_ACTIONS], struct err *err)
{
    return request_wake(e, host, verify, 0, by, now, ret_ids, err);
}

int engine_test_wake_method(struct engine *e, const char *host, unsigned method, const char *by,
                            instant_s now, uint64_t ret_ids[WAKE_ACTIONS], struct err *err)
{
    return request_wake(e, host, true, method, by, now, ret_ids, err);
}

/* ---- the right controllers ------------------------------------------------------------------- */

size_t engine_method_proofs(const struct engine *e, const char *host,
                            struct engine_method_proof ret[WAKE_METHODS])
{
    const unsigned methods = hosts_wake_methods(e->knowledge->hosts, host);
    size_t n = 0;

    for (unsigned i = 0; i < WAKE_METHODS; i++) {
        if (methods & WAKE_METHOD(i))
            hosts_method_proof(e->knowledge->hosts, host, WAKE_METHOD(i), &ret[n++]);
    }
    return n;
}

void engine_identity(const struct engine *e, const char *host, struct engine_identity *ret)
{
    identities_get(e->knowledge->identities, e->knowledge->hosts, host, ret);
}

static void confirm(struct engine *e, const struct host_facts *h, const struct engine_identity *was,
                    const char *by, instant_s now)
{
    char text[2 * WHY_MAX];

    (void)snprintf(text, sizeof text, "%s confirmed that the controllers of host %.100s are its own: %s%s%s",
                   by, h->name, was->controllers, was->why ? "; before that: " : "",
                   was->why ? was->why : "");
    hosts_confirm_controllers(e->knowledge->hosts, h->id, was->controllers, by, now);
    identities_confirmed(e->knowledge->identities, h->id);
    engine_tell_change(e, text, by, now);
    e->passes->next = now;
}

int engine_confirm_controllers(struct engine *e, const char *host, const char *by, instant_s now,
                               struct engine_identity *ret, struct err *err)
{
    const struct host_facts *h = NULL;
    int r;

    if ((r = find_seen(e, host, &h, err)) < 0)
        return r;
    engine_identity(e, h->id, ret);
    switch (ret->is) {
    case HOST_IDENTITY_HYPERVISOR:
        return err_set(
            err, -EINVAL,
            "host %s has no controller to be confirmed: the hypervisor puts it to standby, and knows "
            "which machine it is",
            h->name);
    case HOST_IDENTITY_UNREAD:
        return err_set(err, -EAGAIN, "the controllers of host %s have not been read%s%s", h->name,
                       ret->why ? ": " : " yet; try again in a moment", ret->why ? ret->why : "");
    case HOST_IDENTITY_UNKNOWN:
    case HOST_IDENTITY_DIFFERS:
        confirm(e, h, ret, by, now);
        break;
    case HOST_IDENTITY_MATCHES:
    case HOST_IDENTITY_CONFIRMED:
    case host_identity_count:
        break;
    }
    engine_identity(e, h->id, ret);
    engine_tick(e, now);
    return e->persist->error.code != 0 ? admin_command_not_stored(e, "confirmed", err) : 0;
}
