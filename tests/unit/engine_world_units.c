/* The external unit of the engine's tests: one filter, asked about every VM. */
#include "engine_world.h"

static void w_ask_units(struct unit_port *u, uint64_t serial, const struct snapshot *snapshot)
{
    (void)u;
    assert_int_equal(W->units_asked, 0); /* one question at a time */
    if (!w_alive())
        return;
    W->n_units_asks++;
    W->units_asked = serial;
    W->unit_sees = snapshot;
}

const struct unit_port_ops w_unit_ops = {.ask = w_ask_units};

void w_fill_units(struct inventory *inv, struct arena *a)
{
    static const struct expression_node nodes[] = {
        {.kind = EXPRESSION_VARIABLE, .variable = VARIABLE_ANSWER, .end = 1}};
    static const struct stage_facts stages[] = {
        {.name = "quiet", .external = "u", .filter = {.nodes = nodes, .n = 1}}};

    if (!W->units)
        return;
    *inventory_add_pipeline(inv, a) =
        (struct seen_pipeline){.name = "p", .stages = {.items = stages, .n = 1}};
    for (size_t i = 0; i < inv->n_vms; i++)
        inv->vms[i].pipeline = inv->vms[i].is.kind == VM_AGENT ? NULL : "p";
}

void w_answer_units(void)
{
    struct collected answers = {0};
    struct arena *a = &answers.arena;
    uint64_t serial = W->units_asked;

    if (serial == 0 || W->units_silent || W->dead)
        return;
    const struct snapshot *s = W->unit_sees;
    const char **vms = arena_array(a, const char *, s->n_vms);
    const char **hosts = arena_array(a, const char *, s->n_hosts);
    struct seen_answer *x = inventory_add_answer(&answers.inventory, a);

    *x = (struct seen_answer){.unit = "u", .at = s->time, .words = "as the test says"};
    for (uint32_t i = 0; i < s->n_vms; i++)
        if (s->vms[i].pipeline != IX_NONE)
            vms[x->vms.n++] = s->vms[i].is.id;
    for (uint32_t h = 0; h < s->n_hosts; h++)
        if (W->unit_keeps >> h & 1)
            hosts[x->hosts.n++] = s->hosts[h].is.id;
    x->vms.items = vms;
    x->hosts.items = hosts;
    x->hosts_given = !W->unit_error;
    x->error = W->unit_error;
    W->units_asked = 0;
    engine_on_answers(W->engine, serial, &answers, W->now);
}

/* ---- people ---- */

static const char *lost_right(struct people *p, const char *by, instant_s asked)
{
    (void)p, (void)asked;
    return W->lost && strcmp(by, W->lost) == 0 ? "the token was revoked" : NULL;
}

const struct people_ops w_people_ops = {.lost_right = lost_right};
