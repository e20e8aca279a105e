/* place_text.c: a placement as text. Its JSON is plan_json.c's. */
#include "base/cleanup.h"
#include "model/refs.h"
#include "render/plan_section.h"
#include "render/render.h"
#include "render/table.h"

#define UNPLACED_SHOWN_MAX 10 /* the faults name them all */

static const struct recommendation *place_of(const struct plan *plan, uint32_t vm)
{
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *r = &plan->recommendations[i];
        if (r->action == ACTION_PLACE && r->vm == vm)
            return r;
    }
    return NULL;
}

/* A byte for each VM of the snapshot, so that many VMs are not looked for among many recommendations. */
static unsigned char *mark_placed(const struct plan *plan, struct arena *a)
{
    unsigned char *placed = arena_array(a, unsigned char, plan->snap->n_vms);

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        if (plan->recommendations[i].action == ACTION_PLACE)
            placed[plan->recommendations[i].vm] = 1;
    }
    return placed;
}

uint32_t render_unplaced_count(const struct plan *plan, const uint32_t *vms, uint32_t n)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};
    const unsigned char *placed = mark_placed(plan, &scratch);
    uint32_t unplaced = 0;

    for (uint32_t i = 0; i < n; i++)
        unplaced += !placed[vms[i]];
    return unplaced;
}

static const char *one(const struct plan *plan, uint32_t vm, const struct place_words *words, struct arena *a)
{
    const struct recommendation *r = place_of(plan, vm);
    const char *name = ref_vm_name(plan->snap, vm);

    return r ? arena_printf(a, "%s can be %s %s %s.", name, words->done, words->at,
                            ref_host_name(plan->snap, r->to))
             : arena_printf(a, "%s cannot be %s.", name, words->done);
}

static const char *several(const struct plan *plan, const uint32_t *vms, uint32_t n, struct arena *a)
{
    const unsigned char *placed = mark_placed(plan, a);
    const char *text = "";
    uint32_t unplaced = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (placed[vms[i]])
            continue;
        if (unplaced < UNPLACED_SHOWN_MAX)
            text = arena_printf(a, "%s%s%s", text, unplaced > 0 ? ", " : "", ref_vm_name(plan->snap, vms[i]));
        unplaced++;
    }
    if (unplaced == 0)
        return arena_printf(a, "All %u VMs can be powered on.", n);
    if (unplaced > UNPLACED_SHOWN_MAX)
        text = arena_printf(a, "%s and %u more", text, unplaced - UNPLACED_SHOWN_MAX);
    return arena_printf(a, "%u of %u VMs can be powered on, but not %s.", n - unplaced, n, text);
}

static uint32_t count(const struct plan *plan, enum action_kind action)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->n_recommendations; i++)
        n += plan->recommendations[i].action == action;
    return n;
}

/* What must come first, in sum; the recommendations have it one by one. */
static const char *prerequisites(const struct plan *plan, struct arena *a)
{
    uint32_t moves = count(plan, ACTION_MIGRATE);
    uint32_t wakes = count(plan, ACTION_POWER_ON);
    const char *move_text = arena_printf(a, "%s must move to make room", render_count(a, moves, "VM"));
    const char *wake_text = arena_printf(a, "%s must be woken", render_count(a, wakes, "host"));

    if (moves == 0 && wakes == 0)
        return "";
    return arena_printf(a, " First %s%s%s.", moves > 0 ? move_text : "",
                        moves > 0 && wakes > 0 ? ", and " : "", wakes > 0 ? wake_text : "");
}

void render_place_text(const struct plan *plan, const uint32_t *vms, uint32_t n,
                       const struct place_words *words, struct strbuf *out)
{
    static const struct place_words power_on = {"powered on", "at"};
    CLEANUP(arena_releasep) struct arena scratch = {0};
    const char *answer = n == 0   ? "There is no VM to place."
                         : n == 1 ? one(plan, vms[0], words ? words : &power_on, &scratch)
                                  : several(plan, vms, n, &scratch);

    table_put_wrapped(out, arena_printf(&scratch, "%s%s", answer, prerequisites(plan, &scratch)), 0);
    strbuf_puts(out, "\n");
    plan_section_heading(plan, &scratch, out);
    plan_section_balance(plan, &scratch, out);
    plan_section_recommendations(plan, &scratch, out);
    plan_section_alternatives(plan, &scratch, out);
    plan_section_faults(plan, &scratch, out);
}

void render_best_host_text(const struct plan *plan, uint32_t vm, uint32_t best, struct strbuf *out)
{
    const struct snapshot *s = plan->snap;
    bool stays = s->vms[vm].host == best;

    table_put_text(out, ref_vm_name(s, vm));
    strbuf_puts(out, stays ? " is best where it runs, at " : " is best at ");
    table_put_text(out, ref_host_name(s, best));
    strbuf_puts(out, ".\n");
    if (plan->n_recommendations == 0)
        return;
    strbuf_puts(out, "\n");
    render_plan_text(plan, out);
}
