/* what_if.c: the answer to a what-if question as JSON and as text. */
#include "base/cleanup.h"
#include "model/refs.h"
#include "render/loads.h"
#include "render/plan_section.h"
#include "render/render.h"
#include "render/table.h"

#define STAYING_SHOWN_MAX 10 /* the plan's faults below name them all */

struct answer {
    const struct plan *plan;
    const struct what_if *question;
    const struct metrics *now;
    struct arena *a;
    struct strbuf *out;
};

static void put_change(const struct answer *w, const struct what_if_change *c)
{
    const struct snapshot *s = w->plan->snap;
    const char *text;

    if (c->kind != CHANGE_DEMAND)
        text = arena_printf(w->a, "Assumed: the state of %s is %s instead of %s.", ref_host_name(s, c->host),
                            host_state_name(c->state), host_state_name(c->state_before));
    else if (isnan(c->cpu_mhz_before))
        text = arena_printf(w->a, "Assumed: %s demands %.12g MHz of CPU; its demand now is unknown.",
                            ref_vm_name(s, c->vm), c->cpu_mhz);
    else
        text = arena_printf(w->a, "Assumed: %s demands %.12g MHz of CPU instead of %.12g MHz.",
                            ref_vm_name(s, c->vm), c->cpu_mhz, c->cpu_mhz_before);
    table_put_wrapped(w->out, text, 0);
}

static const struct recommendation *move_of(const struct plan *plan, uint32_t vm)
{
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *r = &plan->recommendations[i];
        if (r->vm == vm && r->action == ACTION_MIGRATE)
            return r;
    }
    return NULL;
}

/* Where a migration in flight or an approved one takes the VM; IX_NONE: there is none. */
static uint32_t under_way_to(const struct snapshot *s, uint32_t vm)
{
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        if (s->migrations[i].vm == vm)
            return s->migrations[i].to;
    }
    for (uint32_t i = 0; i < s->n_pending; i++) {
        if (s->pending[i].vm == vm && s->pending[i].action == ACTION_MIGRATE)
            return s->pending[i].to;
    }
    return IX_NONE;
}

/* What keeps a VM on the host; the plan says it where it tried. */
static const char *why_it_stays(const struct answer *w, uint32_t vm, uint32_t host)
{
    const struct plan *plan = w->plan;
    const char *name = ref_vm_name(plan->snap, vm);

    for (uint32_t i = 0; i < plan->n_faults; i++) {
        if (plan->faults[i].vm == vm && plan->faults[i].code == FAULT_CANNOT_EVACUATE)
            return wording_text(plan->snap, plan->faults[i].found, w->a);
    }
    if (under_way_to(plan->snap, vm) == host)
        return arena_printf(w->a, "%s is being migrated to the host: ask again when the migration has ended.",
                            name);
    return arena_printf(w->a, "%s: `ballast explain` says why.", name);
}

/* The VMs of a host that is to be emptied, by what becomes of them. */
struct emptying {
    uint32_t host, leaving, agents, staying;
    const char *why[STAYING_SHOWN_MAX];
};

static void count_vm(const struct answer *w, uint32_t vm, struct emptying *e)
{
    const struct snapshot *s = w->plan->snap;
    const struct recommendation *r = move_of(w->plan, vm);
    uint32_t to = under_way_to(s, vm);

    if (s->vms[vm].is.kind == VM_AGENT)
        e->agents++;
    else if ((r && r->from == e->host) || (to != IX_NONE && to != e->host))
        e->leaving++;
    else {
        if (e->staying < STAYING_SHOWN_MAX)
            e->why[e->staying] = why_it_stays(w, vm, e->host);
        e->staying++;
    }
}

/* What must be done before the VMs of the host can leave: hosts to be woken, other VMs that make room. */
static const char *prerequisites(const struct answer *w, uint32_t host)
{
    const struct plan *plan = w->plan;
    bool *needed = arena_array(w->a, bool, (size_t)plan->n_recommendations + 1); /* by id */
    uint32_t wakes = 0;
    uint32_t moves = 0;

    for (uint32_t i = plan->n_recommendations; i-- > 0;) { /* backwards: what is needed comes before */
        const struct recommendation *r = &plan->recommendations[i];
        bool leaves = r->action == ACTION_MIGRATE && r->from == host;
        for (uint32_t d = 0; (leaves || needed[r->id]) && d < r->n_depends_on; d++)
            needed[r->depends_on[d]] = true;
        wakes += needed[r->id] && r->action == ACTION_POWER_ON;
        moves += needed[r->id] && r->action == ACTION_MIGRATE && !leaves;
    }
    if (wakes == 0 && moves == 0)
        return "";
    return arena_printf(w->a, ", after %s%s%s",
                        wakes > 0 ? arena_printf(w->a, "waking %s", render_count(w->a, wakes, "host")) : "",
                        wakes > 0 && moves > 0 ? " and " : "",
                        moves > 0 ? arena_printf(w->a, "moving %s", render_count(w->a, moves, "other VM"))
                                  : "");
}

static void put_emptying(const struct answer *w, uint32_t host)
{
    const struct snapshot *s = w->plan->snap;
    const char *name = ref_host_name(s, host);
    struct emptying e = {.host = host};

    for (uint32_t i = 0; i < s->n_vms; i++) {
        /* spare VMs stand for room, and are not in the way */
        if (s->vms[i].is.state == VM_ON && s->vms[i].is.kind != VM_SPARE &&
            (s->vms[i].host == host || under_way_to(s, i) == host))
            count_vm(w, i, &e);
    }
    const char *agents = e.agents > 0 ? arena_printf(w->a, "; %s stays, for its own framework to stop",
                                                     render_count(w->a, e.agents, "agent VM"))
                                      : "";
    const char *text;
    if (e.staying > 0)
        text = arena_printf(w->a, "%s cannot be evacuated: %u of its %s cannot leave%s.", name, e.staying,
                            render_count(w->a, e.staying + e.leaving, "VM"), agents);
    else if (e.leaving > 0)
        text = arena_printf(w->a, "%s can be evacuated: its %s can leave%s%s.", name,
                            render_count(w->a, e.leaving, "VM"), prerequisites(w, host), agents);
    else
        text = arena_printf(w->a, "%s is empty%s.", name, agents);
    table_put_wrapped(w->out, text, 0);
    for (uint32_t i = 0; i < e.staying && i < STAYING_SHOWN_MAX; i++)
        table_put_wrapped(w->out, e.why[i], 2);
    if (e.staying > STAYING_SHOWN_MAX)
        strbuf_printf(w->out, "  ... and %u more, see the faults below.\n", e.staying - STAYING_SHOWN_MAX);
}

/* What the host carries in the end; nothing of one that cannot run VMs. */
static const char *loads_in_the_end(const struct answer *w, uint32_t host, const char *before)
{
    const struct host_load *h = loads_of_host(&w->plan->after, host);

    return h ? arena_printf(w->a, "%sCPU %.1f %%, memory %.1f %%", before, 100 * h->n[RES_CPU],
                            100 * h->n[RES_MEM])
             : "";
}

static void put_host_on(const struct answer *w, uint32_t host)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->plan->n_recommendations; i++)
        n += w->plan->recommendations[i].to == host;
    table_put_wrapped(
        w->out,
        arena_printf(w->a, "%s receives %s%s.", ref_host_name(w->plan->snap, host),
                     n > 0 ? render_count(w->a, n, "VM") : "no VM",
                     loads_in_the_end(w, host, n > 0 ? "; its load is then " : "; its load is ")),
        0);
}

static void put_demand(const struct answer *w, uint32_t vm)
{
    const struct snapshot *s = w->plan->snap;
    const struct recommendation *r = move_of(w->plan, vm);
    uint32_t host = r ? r->to : s->vms[vm].host;

    table_put_wrapped(w->out,
                      arena_printf(w->a, "%s %s %s%s.", ref_vm_name(s, vm), r ? "moves to" : "stays on",
                                   ref_host_name(s, host),
                                   loads_in_the_end(w, host, ", whose load is then ")),
                      0);
}

/* "h2 with CPU 81.0 % (now h3 with 60.0 %)" */
static const char *fullest(const struct answer *w, enum resource r)
{
    const struct snapshot *s = w->plan->snap;
    const struct host_load *then = loads_extreme(&w->plan->after, r, 1);
    const struct host_load *now = loads_extreme(w->now, r, 1);
    const char *was =
        now ? arena_printf(w->a, " (now %s with %.1f %%)", ref_host_name(s, now->host), 100 * now->n[r]) : "";

    if (!then)
        return "no host";
    return arena_printf(w->a, "%s with %s %.1f %%%s", ref_host_name(s, then->host),
                        r == RES_CPU ? "CPU" : "memory", 100 * then->n[r], was);
}

void render_what_if_text(const struct plan *plan, const struct what_if *question, const struct plan *now,
                         struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};
    const struct answer w = {
        .plan = plan, .question = question, .now = &now->before, .a = &scratch, .out = out};

    for (size_t i = 0; i < question->n; i++)
        put_change(&w, &question->changes[i]);
    strbuf_puts(out, "\n");
    for (size_t i = 0; i < question->n; i++) {
        const struct what_if_change *c = &question->changes[i];
        switch (c->kind) {
        case CHANGE_HOST_OFF:
        case CHANGE_MAINTENANCE:
            put_emptying(&w, c->host);
            break;
        case CHANGE_HOST_ON:
            put_host_on(&w, c->host);
            break;
        case CHANGE_DEMAND:
            put_demand(&w, c->vm);
            break;
        case change_kind_count:
            break;
        }
    }
    const struct fault *lost =
        plan_capacity_given_up(now->faults, now->n_faults, plan->faults, plan->n_faults);
    if (lost)
        table_put_wrapped(out,
                          arena_printf(&scratch, "Failover capacity is given up: %s",
                                       wording_text(plan->snap, lost->found, &scratch)),
                          0);
    table_put_wrapped(
        out,
        arena_printf(&scratch,
                     "After the plan below, the imbalance is %.4f (now %.4f), and the fullest hosts are "
                     "%s and %s.",
                     plan->after.imbalance, now->before.imbalance, fullest(&w, RES_CPU),
                     fullest(&w, RES_MEM)),
        0);
    strbuf_puts(out, "\n");
    render_plan_text(plan, out);
}
