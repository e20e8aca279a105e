/* explain.c: the explanation of a VM or a host as JSON and as text. */
#include "base/cleanup.h"
#include "base/natural.h"
#include "model/named.h"
#include "model/refs.h"
#include "render/render.h"
#include "render/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MHZ_PER_GHZ 1000.0
#define MIB_PER_GIB 1024.0

/* Null where it was not reckoned, because another check came first. */
static void put_amount(struct json_writer *w, const char *key, const double amount[RES_COUNT])
{
    if (isnan(amount[RES_CPU]) && isnan(amount[RES_MEM]))
        jw_text(w, key, NULL);
    else
        render_amount(w, key, amount);
}

/* What each stage of the pipeline gives the host. */
static void put_scores(struct json_writer *w, const struct snapshot *snap, const struct explanation *e,
                       const struct candidate *c)
{
    if (e->n_scoring == 0)
        return;
    jw_figure(w, "score", c->score);
    jw_begin(w, "scores", JW_OBJECT, JW_INLINE);
    for (uint32_t i = 0; c->parts && i < e->n_scoring; i++)
        jw_figure(w, snap->stages[e->scoring[i]].is.name, c->parts[i]);
    jw_end(w);
}

void render_explain_json(const struct snapshot *snap, const struct explanation *e, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "format", "ballast-explain/1");
    jw_text(&w, "vm", ref_vm_id(snap, e->vm));
    jw_text(&w, "host", ref_host_id(snap, snap->vms[e->vm].host));
    render_sentence(&w, "summary", snap, e->summary);
    if (e->n_left > 0)
        render_stages_left(&w, snap, e->left, e->n_left);
    jw_begin(&w, "candidates", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < e->n; i++) {
        const struct candidate *c = &e->candidates[i];
        jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(&w, "host", ref_host_id(snap, c->host));
        jw_text(&w, "verdict", verdict_name(c->verdict));
        jw_text(&w, "check", check_name(c->check));
        render_finding(&w, "text", snap, c->found);
        jw_figure(&w, "imbalance_after", c->imbalance_after);
        put_amount(&w, "cost", c->cost);
        put_amount(&w, "benefit", c->benefit);
        put_scores(&w, snap, e, c);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
}

static const char *stages_text(const struct snapshot *snap, const struct explanation *e, struct arena *a)
{
    const char *all = "Hosts that are on and left after each stage of its pipeline: ";

    for (uint32_t i = 0; i < e->n_left; i++)
        all = arena_printf(a, "%s%s%u after \"%s\"", all, i > 0 ? ", " : "", e->left[i].hosts,
                           snap->stages[e->left[i].stage].is.id);
    return arena_printf(a, "%s.", all);
}

static int compare_hosts(const void *a, const void *b, void *snap)
{
    const struct candidate *const *x = a;
    const struct candidate *const *y = b;

    return natural_compare(ref_host_name(snap, (*x)->host), ref_host_name(snap, (*y)->host));
}

static const struct candidate **by_host_name(const struct snapshot *snap, const struct explanation *e,
                                             struct arena *a)
{
    const struct candidate **list = arena_array(a, const struct candidate *, (size_t)e->n + 1);

    for (uint32_t i = 0; i < e->n; i++)
        list[i] = &e->candidates[i];
    qsort_r(list, e->n, sizeof *list, compare_hosts, (void *)(uintptr_t)snap);
    return list;
}

/* Rejected by the same check with sentences that differ in their figures only. */
static bool is_alike(const struct snapshot *snap, const struct candidate *c, const struct candidate *d,
                     struct arena *a)
{
    return c->verdict == VERDICT_REJECTED && d->verdict == VERDICT_REJECTED && c->check == d->check &&
           !c->found == !d->found && (!c->found || wording_alike(snap, c->found, d->found, a));
}

/* Takes the candidates that are like the first one out of the list; returns how many stay in it. */
static uint32_t take_alike(const struct snapshot *snap, const struct candidate **list, uint32_t n,
                           const struct candidate **ret, uint32_t *ret_n, struct arena *a)
{
    const struct candidate *first = list[0];
    uint32_t stay = 0;

    *ret_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || is_alike(snap, first, list[i], a))
            ret[(*ret_n)++] = list[i];
        else
            list[stay++] = list[i];
    }
    return stay;
}

static const char *imbalance_text(const struct candidate *const *all, uint32_t n, struct arena *a)
{
    double low = all[0]->imbalance_after;
    double high = low;

    for (uint32_t i = 0; i < n; i++) {
        low = fmin(low, all[i]->imbalance_after);
        high = fmax(high, all[i]->imbalance_after);
    }
    if (!isfinite(low) || !isfinite(high))
        return NULL;
    const char *from = arena_printf(a, "%.4f", low);
    const char *to = arena_printf(a, "%.4f", high);
    return strcmp(from, to) == 0 ? from : arena_printf(a, "%s to %s", from, to);
}

/* "The sentence. Hosts: a, b, c." */
static const char *text_of_all(const struct snapshot *snap, const struct candidate *const *all, uint32_t n,
                               struct arena *a)
{
    const struct finding **found = arena_array(a, const struct finding *, n);
    const char *domain = named_host_domain(snap);
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    for (uint32_t i = 0; i < n; i++)
        found[i] = all[i]->found;
    if (found[0])
        strbuf_puts(&out, wording_text_of_all(snap, found, n, a));
    else
        strbuf_printf(&out, "%s.", check_meaning(all[0]->check));
    for (uint32_t i = 0; i < n; i++) {
        const char *name = ref_host_name(snap, all[i]->host);
        size_t len = strlen(name);
        size_t end = strlen(domain);
        if (len > end && strcmp(name + len - end, domain) == 0)
            len -= end;
        strbuf_printf(&out, "%s%.*s", i == 0 ? " Hosts: " : ", ", (int)len, name);
    }
    strbuf_puts(&out, ".");
    return arena_strdup(a, out.text);
}

enum { ALIKE_MIN = 3 }; /* fewer are shown host by host, with the figures of each */

static void put_candidates(const struct snapshot *snap, struct table *t, const struct candidate *const *all,
                           uint32_t n, struct arena *a)
{
    uint32_t step = n >= ALIKE_MIN ? n : 1;

    for (uint32_t i = 0; i < n; i += step) {
        const struct candidate *c = all[i];
        table_cell(t, step == 1 ? ref_host_name(snap, c->host) : arena_printf(a, "%u hosts", n));
        table_cell(t, verdict_name(c->verdict));
        table_cell(t, check_name(c->check));
        table_cell(t, imbalance_text(all + i, step, a));
        table_cell(t, step > 1   ? text_of_all(snap, all, n, a)
                      : c->found ? wording_text(snap, c->found, a)
                                 : check_meaning(c->check));
    }
}

#define SCORED_MOST 4 /* hosts side by side */

static int compare_scores(const void *a, const void *b)
{
    const struct candidate *const *x = a;
    const struct candidate *const *y = b;

    return (*x)->score != (*y)->score ? ((*x)->score < (*y)->score ? 1 : -1)
           : (*x)->host < (*y)->host  ? -1
                                      : 1;
}

/* The best hosts by the pipeline's score, and what each stage gives them. */
static void put_score_table(const struct snapshot *snap, const struct explanation *e, struct arena *a,
                            struct strbuf *out)
{
    const struct candidate **best = by_host_name(snap, e, a);
    struct column columns[SCORED_MOST + 1] = {{"SCORE BY STAGE", false}};
    uint32_t n = 0;

    for (uint32_t i = 0; i < e->n; i++)
        if (best[i]->parts)
            best[n++] = best[i];
    qsort(best, n, sizeof *best, compare_scores);
    n = n < SCORED_MOST ? n : SCORED_MOST;
    for (uint32_t i = 0; i < n; i++)
        columns[i + 1] = (struct column){ref_host_name(snap, best[i]->host), true};
    struct table t = table_of(a, columns, (size_t)n + 1);

    for (uint32_t k = 0; k <= e->n_scoring; k++) {
        table_cell(&t, k < e->n_scoring ? snap->stages[e->scoring[k]].is.name : "together");
        for (uint32_t i = 0; i < n; i++)
            table_cellf(&t, "%.4g", k < e->n_scoring ? best[i]->parts[k] : best[i]->score);
    }
    strbuf_puts(out, "\n");
    table_render(&t, "  ", out);
}

void render_explain_text(const struct snapshot *snap, const struct explanation *e, struct strbuf *out)
{
    static const struct column columns[] = {
        {"HOST", .host = true}, {"VERDICT", false},  {"CHECK", false},
        {"IMBALANCE", true},    {"", .below = true},
    };
    const struct vm *v = &snap->vms[e->vm];
    CLEANUP(arena_releasep) struct arena scratch = {0};
    struct table t = table_of(&scratch, columns, sizeof columns / sizeof *columns);

    table_put_wrapped(out, e->summary ? wording_text(snap, e->summary, &scratch) : v->is.name, 0);
    if (e->n_left > 0)
        table_put_wrapped(out, stages_text(snap, e, &scratch), 0);
    const struct candidate **order = by_host_name(snap, e, &scratch);
    const struct candidate **alike = arena_array(&scratch, const struct candidate *, (size_t)e->n + 1);
    strbuf_puts(out, "\n");
    t.domain = named_host_domain(snap);
    for (uint32_t n = e->n, n_alike; n > 0;) {
        n = take_alike(snap, order, n, alike, &n_alike, &scratch);
        put_candidates(snap, &t, alike, n_alike, &scratch);
    }
    table_render(&t, "  ", out);
    if (e->n_scoring > 0)
        put_score_table(snap, e, &scratch, out);
}

void render_explain_host_json(const struct snapshot *snap, const struct host_explanation *e,
                              const char *assumed, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "format", "ballast-explain/1");
    jw_text(&w, "vm", NULL);
    jw_text(&w, "host", ref_host_id(snap, e->host));
    jw_text(&w, "state", host_state_name(snap->hosts[e->host].is.state));
    jw_text(&w, "verdict", verdict_name(e->verdict));
    jw_text(&w, "check", power_check_name(e->check));
    render_finding(&w, "text", snap, e->found);
    if (e->outlook)
        render_sentence(&w, "outlook", snap, e->outlook);
    if (e->distrust)
        render_sentence(&w, "distrust", snap, e->distrust);
    if (assumed)
        jw_text(&w, "assumed", assumed);
    jw_begin(&w, "utilization", JW_OBJECT, JW_INLINE);
    jw_figure(&w, "cpu", e->utilization[RES_CPU]);
    jw_figure(&w, "mem", e->utilization[RES_MEM]);
    jw_end(&w);
    put_amount(&w, "cost", e->cost);
    put_amount(&w, "benefit", e->benefit);
    jw_figure(&w, "off_s", e->off_s);
    jw_figure(&w, "watts", e->watts);
    jw_end(&w);
}

/* What a person can do about a check that only a person can change. */
static void put_remedy(struct strbuf *out, enum power_check check, const char *host)
{
    static const struct {
        enum power_check check;
        const char *before, *after; /* the host */
    } remedies[] = {
        {POWER_WAKE_UNPROVEN, "  `ballast wake ", " --verify` verifies one.\n"},
        {POWER_WAKE_FAILED, "  `ballast wake ", "` tries again.\n"},
    };

    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        if (remedies[i].check != check)
            continue;
        strbuf_puts(out, remedies[i].before);
        table_put_text(out, host);
        strbuf_puts(out, remedies[i].after);
    }
}

static void put_sentence(struct strbuf *out, const char *text)
{
    if (!text)
        return;
    table_put_hanging(out, text, 0, 2);
}

/* What the host carries beside what its VMs show. */
static void put_own_use(struct strbuf *out, const struct snapshot *snap, const struct host *h,
                        struct arena *a)
{
    const double *own = h->own.now;
    const char *age =
        h->is.own.at != 0 ? arena_printf(a, ", as of %.0f s before", snapshot_age_s(snap, h->is.own.at)) : "";

    if (own[RES_CPU] > 0 || own[RES_MEM] > 0)
        put_sentence(out, arena_printf(a, "The host itself uses %.1f GHz of CPU and %.1f GiB of memory%s.",
                                       own[RES_CPU] / MHZ_PER_GHZ, own[RES_MEM] / MIB_PER_GIB, age));
    if (h->is.swap_in_mb_s > 0 || h->is.mem_pressure > 0)
        put_sentence(
            out, arena_printf(a,
                              "For five minutes it has read %.1f MiB/s of swapped memory back at least, and "
                              "all on it waited for memory in %.0f %% of that time.",
                              h->is.swap_in_mb_s, 100 * h->is.mem_pressure));
}

void render_explain_host_text(const struct snapshot *snap, const struct host_explanation *e,
                              const char *assumed, struct strbuf *out)
{
    const struct host_facts *h = &snap->hosts[e->host].is;
    bool sleeps = h->state == HOST_STANDBY;
    CLEANUP(arena_releasep) struct arena scratch = {0};

    const char *what;

    if (e->verdict == VERDICT_CHOSEN)
        what = arena_printf(&scratch, "%s is %s by the plan.", h->name, sleeps ? "woken" : "put to standby");
    else
        what =
            arena_printf(&scratch, "%s %s. Deciding check: %s.", h->name,
                         sleeps                ? "stays in standby"
                         : h->state == HOST_ON ? "stays on"
                                               : arena_printf(&scratch, "is %s", host_state_name(h->state)),
                         power_check_name(e->check));
    table_put_wrapped(out, what, 0);
    strbuf_puts(out, "\n");
    put_sentence(out, wording_text(snap, e->found, &scratch));
    put_remedy(out, e->check, named_host_word(snap, e->host));
    put_sentence(out, wording_text(snap, e->outlook, &scratch));
    put_sentence(out, wording_text(snap, e->distrust, &scratch));
    if (e->check != POWER_OWN_USE) /* which says so itself */
        put_own_use(out, snap, &snap->hosts[e->host], &scratch);
    put_sentence(out, assumed);
}
