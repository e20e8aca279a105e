/* external_units.c: the answers of external units become part of a snapshot, and may stop an action. */
#include "engine/external_units.h"

#include "core/fit/fit.h"
#include "engine/actions/action.h"
#include "engine/knowledge/unit_failures.h"
#include "engine/source_poll.h"
#include "engine/state.h"
#include "model/snapshot_build.h"

#include <stdio.h>

bool external_units_ask(struct engine *e, struct observation *v, instant_s now)
{
    if (!e->port.unit_ops)
        return false;
    if (!snapshot_asks_units(&v->snap)) {
        unit_failures_take(e->knowledge->units, e, NULL, now);
        return false;
    }
    v->units_asked = now;
    v->changes = e->changes;
    e->awaits = v;
    e->port.unit_ops->ask(e->port.units, v->serial, &v->snap);
    return true;
}

void engine_on_answers(struct engine *e, uint64_t serial, struct collected *answers, instant_s now)
{
    struct observation *v = e->awaits;
    struct err err = {0};

    if (!v || v->serial != serial) {
        arena_release(&answers->arena);
        *answers = (struct collected){0};
        return;
    }
    e->awaits = NULL;
    v->outdated = v->changes != e->changes;
    v->answers = *answers;
    *answers = (struct collected){0};
    v->seen.inventory.answers = v->answers.inventory.answers;
    v->seen.inventory.n_answers = v->answers.inventory.n_answers;
    unit_failures_take(e->knowledge->units, e, &v->answers.inventory, now);
    if (snapshot_build_answers(&v->seen.inventory, &v->seen.arena, &v->snap, &err) == 0) {
        engine_take_observation(e, v, now);
        return;
    }
    observation_unref(v);
    source_poll_failed(e, &err, now);
}

/* ---- before an action begins ---- */

static bool is_asked_about(const struct snapshot *s, const struct vm *v, enum fit_use use)
{
    const struct pipeline *p = v->pipeline == IX_NONE ? NULL : &s->pipelines[v->pipeline];

    for (uint32_t i = 0; p && i < p->n; i++) {
        const struct stage_facts *is = &s->stages[p->first + i].is;

        if (is->external && is->filter.n > 0 && is->applies >> use & 1)
            return true;
    }
    return false;
}

static const struct fit *fit_of(struct observation *v)
{
    if (!v->fit) {
        v->fit = arena_new(&v->seen.arena, struct fit);
        fit_compile(&v->snap, &v->seen.arena, v->fit);
    }
    return v->fit;
}

enum preconditions external_units_check(struct engine *e, const struct action *x, instant_s now, char *why)
{
    enum fit_use use = x->r.kind == ACTION_PLACE ? FIT_PLACE : FIT_MOVE;
    struct observation *v = e->now_seen;
    uint32_t vm = x->r.vm && v ? snapshot_find_vm(&v->snap, x->r.vm) : IX_NONE;
    uint32_t to = x->r.to && v ? snapshot_find_host(&v->snap, x->r.to) : IX_NONE;

    if (!e->port.unit_ops || vm == IX_NONE || to == IX_NONE ||
        !is_asked_about(&v->snap, &v->snap.vms[vm], use))
        return READY;
    if (v->units_asked <= x->r.approved) {
        source_poll_want(e, now);
        (void)snprintf(why, WHY_MAX, "it waits for the answers of external units");
        return WAIT;
    }
    const struct refusal *r = fit_unit_refusal(fit_of(v), use, vm, to, &v->seen.arena);
    const char *host = v->snap.hosts[to].is.name;

    if (!r)
        return READY;
    if (!r->answer || !answer_counts(r->answer)) {
        (void)snprintf(why, WHY_MAX, "it waits for the external unit %.100s%s%.300s", r->unit,
                       r->answer && r->answer->error ? ": " : "",
                       r->answer && r->answer->error ? r->answer->error : "");
        return WAIT;
    }
    (void)snprintf(why, WHY_MAX, "the external unit %.100s refuses host %.100s%s%.300s", r->unit, host,
                   r->answer->words ? ": " : "", r->answer->words ? r->answer->words : "");
    return NEVER;
}
