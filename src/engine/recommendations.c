/* recommendations.c: what a plan recommends, as actions with numbers that last. */
#include "engine/recommendations.h"

#include "base/order.h"
#include "base/texts.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/rejections.h"
#include "engine/observation.h"
#include "engine/state.h"
#include "model/refs.h"
#include "render/wording/wording.h"

#include <string.h>

struct action_record recommendation_record(const struct snapshot *s, const struct recommendation *rec,
                                           uint64_t pass)
{
    struct action_record r = {
        .pass = pass,
        .state = ACTION_RECOMMENDED,
        .kind = rec->action,
        .priority = rec->priority,
        .vm = ref_vm_id(s, rec->vm),
        .identity = rec->vm == IX_NONE ? NULL : s->vms[rec->vm].is.identity,
        .from = ref_host_id(s, rec->from),
        .to = ref_host_id(s, rec->to),
        .host = ref_host_id(s, rec->host),
        .reason = rec->reason,
        .rule = ref_rule_id(s, rec->rule),
        .group = rec->group,
        .position = rec->id,
        .imbalance_after = rec->imbalance_after,
        .duration_s = rec->duration_s,
        .created = s->time,
        .seen = s->time,
    };

    for (int res = 0; res < RES_COUNT; res++) {
        r.cost[res] = rec->cost[res];
        r.benefit[res] = rec->benefit[res];
    }
    return r;
}

static bool is_proof(enum reason x, enum reason y)
{
    return x == REASON_WAKE_TEST || y == REASON_WAKE_TEST;
}

/* Of one id: another VM may have been given it. */
static bool is_same_vm(const struct action_record *x, const struct action_record *y)
{
    return !x->identity || !y->identity || strcmp(x->identity, y->identity) == 0;
}

/* The unapproved recommendation of an earlier pass that this one repeats, or NULL. It is the same one if the
 * VM is to leave its host for the same reason, even to another host: of many hosts with about the same load,
 * each pass finds another one the best. A standby is another
 * one than a proof that the host wakes. */
static struct action *find_repeated(const struct engine *e, const struct action_record *r)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];

        if (x->r.state == ACTION_RECOMMENDED && x->r.pass != r->pass && x->r.kind == r->kind &&
            texts_same(x->r.vm, r->vm) && texts_same(x->r.from, r->from) && texts_same(x->r.host, r->host) &&
            is_same_vm(&x->r, r) &&
            (x->r.reason == r->reason || (texts_same(x->r.to, r->to) && !is_proof(x->r.reason, r->reason))))
            return x;
    }
    return NULL;
}

/* Takes over what the newer pass says of the same move; number, uid and age stay. Another destination is
 * another version: an approval names the version that the admin has read. */
static void refresh(struct engine *e, struct action *x, const struct action_record *r)
{
    if (!texts_same(x->r.to, r->to)) {
        x->r.version++;
        x->r.redirected = r->seen;
        xalloc_set_text(&x->r.former_to, x->r.to);
    }
    x->r.pass = r->pass;
    x->r.priority = r->priority;
    x->r.reason = r->reason;
    x->r.group = r->group;
    x->r.position = r->position;
    x->r.imbalance_after = r->imbalance_after;
    x->r.duration_s = r->duration_s;
    x->r.seen = r->seen;
    for (int res = 0; res < RES_COUNT; res++) {
        x->r.cost[res] = r->cost[res];
        x->r.benefit[res] = r->benefit[res];
    }
    xalloc_set_text(&x->r.to, r->to);
    if (r->identity)
        xalloc_set_text(&x->r.identity, r->identity);
    xalloc_set_text(&x->r.rule, r->rule);
    xalloc_set_text(&x->r.text, r->text);
    action_changed(e, x);
}

bool recommendation_vm_is_taken(const struct engine *e, const char *vm)
{
    return slot_usage_of_vm(e->actions, vm)->committed > 0;
}

const struct action *recommendation_find_power_change(const struct engine *e, const struct action_record *r)
{
    const struct action_list *power = &e->actions->usage.power;

    for (size_t i = 0; (r->kind == ACTION_POWER_ON || r->kind == ACTION_POWER_OFF) && i < power->n; i++) {
        const struct action *x = power->items[i];

        if (x->r.kind == r->kind && action_committed(x) && texts_same(x->r.host, r->host))
            return x;
    }
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return (*x > *y) - (*x < *y);
}

bool recommendation_needs(struct engine *e, struct action *x, const struct recommendation *rec,
                          const uint64_t *number, struct arena *a)
{
    uint64_t *ids = arena_array(a, uint64_t, rec->n_depends_on + e->actions->n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < rec->n_depends_on; i++) {
        if (number[rec->depends_on[i]] == 0)
            return false;
        ids[n++] = number[rec->depends_on[i]];
    }
    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *y = e->actions->list[i];

        if (action_committed(y) && y->r.kind == ACTION_MIGRATE && x->r.to && texts_same(y->r.from, x->r.to))
            ids[n++] = y->r.id;
    }
    order_sort(ids, n, sizeof *ids, by_number);
    if (n != x->r.n_depends_on || (n > 0 && memcmp(ids, x->r.depends_on, n * sizeof *ids) != 0))
        action_set_depends(e, x, ids, n);
    return true;
}

uint64_t *recommendation_numbers(const struct plan *plan, struct arena *a)
{
    uint32_t highest = 0;

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        if (plan->recommendations[i].id > highest)
            highest = plan->recommendations[i].id;
    }
    return arena_array(a, uint64_t, (size_t)highest + 1);
}

/* As an action: that of an earlier pass, or a new one. */
static struct action *take_one(struct engine *e, const struct action_record *r,
                               const struct action_record **redirected,
                               struct recommendation_changes *changes, bool *ret_new)
{
    struct action *x = find_repeated(e, r);

    *ret_new = !x;
    if (!x)
        return action_add(e, r);
    if (!texts_same(x->r.to, r->to))
        redirected[changes->n_redirected++] = &x->r;
    refresh(e, x, r);
    return x;
}

/* Whether a person rejected it, or one that it only makes sense together with, since the snapshot was made.
 */
static bool is_rejected(const struct engine *e, const struct observation *v, uint32_t i, instant_s now)
{
    const struct recommendation *all = v->plan.recommendations;

    for (uint32_t k = 0; k < v->plan.n_recommendations; k++) {
        if (k != i && (all[i].group == 0 || all[k].group != all[i].group || all[i].action == ACTION_POWER_ON))
            continue;
        const struct action_record r = recommendation_record(&v->snap, &all[k], 0);

        if (rejections_find(e->knowledge->failed_moves, &r, now) != 0)
            return true;
    }
    return false;
}

void recommendations_take(struct engine *e, const struct observation *v, const struct action_record *proof,
                          uint64_t pass, struct arena *a, uint64_t *ret_number,
                          struct recommendation_changes *ret, instant_s now)
{
    const struct plan *plan = &v->plan;
    const struct action_record **redirected =
        arena_array(a, const struct action_record *, plan->n_recommendations);

    *ret = (struct recommendation_changes){.redirected = redirected};

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        struct action_record r = recommendation_record(&v->snap, rec, pass);

        if (recommendation_vm_is_taken(e, r.vm) || is_rejected(e, v, i, now))
            continue;
        r.text = wording_text(&v->snap, rec->found, a);
        const struct action *woken = recommendation_find_power_change(e, &r);

        if (woken) { /* approved, or under way: what needs that host needs that action */
            ret_number[rec->id] = woken->r.id;
            continue;
        }
        bool news;
        struct action *x = take_one(e, &r, redirected, ret, &news);

        if (!recommendation_needs(e, x, rec, ret_number, a)) {
            action_enter(e, x, ACTION_EXPIRED, "what it depends on cannot be carried out", now);
            ret->n_gone += !news;
            continue;
        }
        ret_number[rec->id] = x->r.id;
        if (news)
            action_enter(e, x, ACTION_RECOMMENDED, NULL, now);
        ret->n_new += news;
    }
    if (proof) {
        bool news;
        struct action *x = take_one(e, proof, redirected, ret, &news);

        if (news)
            action_enter(e, x, ACTION_RECOMMENDED, NULL, now);
        ret->n_new += news;
    }
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];

        if (x->r.state == ACTION_RECOMMENDED && x->r.pass != pass) {
            action_enter(e, x, ACTION_EXPIRED, "a later pass no longer recommends it", now);
            ret->n_gone++;
        }
    }
}
