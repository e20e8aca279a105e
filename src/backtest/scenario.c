/* scenario.c: writes a recording as a scenario of the simulator. */
#include "backtest/backtest.h"

#include "base/rfc3339.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The last figures of a VM that is still there are from the last look, or from one shortly before it. */
#define GONE_S 900

/* A scenario has at most 1,000 entries of VMs. */
#define ENTRIES_MAX 990

/* A migration has the link to itself at the learned rate. */
#define LINK_OVER_RATE 1.1
#define LINK_LEAST_MB_S 110

static void note(struct backtest_notes *notes, struct arena *a, const char *text)
{
    notes->items = arena_grow(a, notes->items, notes->n, &notes->cap, sizeof *notes->items);
    notes->items[notes->n++] = text;
}

/* A YAML scalar in double quotes. */
static void put_quoted(struct strbuf *out, const char *text)
{
    strbuf_puts(out, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            strbuf_printf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            strbuf_printf(out, "\\x%02x", (unsigned)*c);
        else
            strbuf_add(out, c, 1);
    }
    strbuf_puts(out, "\"");
}

static void put_key(struct strbuf *out, const char *key, const char *text)
{
    strbuf_puts(out, key);
    put_quoted(out, text);
    strbuf_puts(out, "\n");
}

/* ---- settings and schedule ---- */

static void put_settings(const struct policy *policy, struct arena *a, struct strbuf *out)
{
    struct policy usual;

    policy_default(&usual);
    strbuf_puts(out, "settings:\n");
    for (size_t i = 0; i < policy_settings.n; i++) {
        const struct field *f = &policy_settings.fields[i];
        const char *value = policy_get(policy, f, a);
        /* their defaults differ in a scenario */
        bool always = strcmp(f->name, "automation") == 0 || strcmp(f->name, "dpm.automation") == 0;

        if (value && *value && (always || strcmp(value, policy_get(&usual, f, a)) != 0))
            put_key(out, arena_printf(a, "  %s: ", f->name), value);
    }
}

static void put_schedule(const struct schedule *s, struct strbuf *out)
{
    if (!s || (s->n_windows == 0 && s->n_ready_by == 0))
        return;
    put_key(out, "schedule:\n  time_zone: ", s->zone);
    strbuf_printf(out, "  ready_percent: %.12g\n  windows:\n", s->ready_percent);
    for (uint32_t i = 0; i < s->n_windows; i++)
        put_key(out, "    - ", s->windows[i].text);
    strbuf_puts(out, "  ready_by:\n");
    for (uint32_t i = 0; i < s->n_ready_by; i++)
        put_key(out, "    - ", s->ready_by[i].text);
}

/* ---- hosts ---- */

/* The fastest rate that migrations had: a link is at least as fast. */
static void put_migration(const struct snapshot *s, const struct policy *policy, struct strbuf *out)
{
    double rate = policy->migration_rate_mb_s;

    for (uint32_t i = 0; i < s->n_hosts; i++)
        rate = fmax(rate, s->hosts[i].is.migration_rate_mb_s); /* ignores UNKNOWN */
    for (uint32_t i = 0; i < s->n_migration_rates; i++)
        rate = fmax(rate, s->migration_rates[i].rate_mb_s);
    strbuf_printf(out, "migration: {rate_mb_s: %.6g}\nhosts:\n  - {match: \"*\", link_mb_s: %.6g}\n", rate,
                  fmax(LINK_LEAST_MB_S, rate * LINK_OVER_RATE));
}

static void put_script(const struct recording *r, struct strbuf *out)
{
    strbuf_puts(out, "script:\n");
    for (size_t i = 0; i < r->n_maintenance; i++) {
        const struct recorded_maintenance *m = &r->maintenance[i];
        strbuf_printf(out, "  - {at_s: %" PRId64 ", maintenance_%s: ", (int64_t)(m->time - r->from),
                      m->enter ? "enter" : "exit");
        put_quoted(out, m->host);
        strbuf_puts(out, "}\n");
    }
}

/* ---- VMs ---- */

struct vm_counts {
    uint32_t entries, came, went, left_out, unknown, without;
};

/* The VM's times as keys of its entry. False: it is there all the time. */
static bool put_times(const struct recording *r, const struct recorded_vm *v, bool at_begin,
                      struct strbuf *out)
{
    instant_s arrives = at_begin || v->first <= r->from ? (at_begin ? r->from : r->from + 1) : v->first;
    bool leaves = v->last < r->until - GONE_S;

    if (!at_begin)
        strbuf_printf(out, ", arrives_s: %" PRId64, (int64_t)(arrives - r->from));
    if (leaves)
        strbuf_printf(out, ", lasts_s: %" PRId64, (int64_t)(v->last > arrives ? v->last - arrives : 1));
    return !at_begin || leaves;
}

/* A VM of the snapshot that came or went. */
static void put_known_vm(const struct recording *r, const struct recorded_vm *v, bool at_begin,
                         struct vm_counts *n, struct strbuf *out)
{
    bool leaves = v->last < r->until - GONE_S;

    if (at_begin && !leaves)
        return;
    if (n->entries == ENTRIES_MAX) {
        n->left_out++;
        return;
    }
    n->entries++;
    n->came += !at_begin;
    n->went += leaves;
    strbuf_puts(out, "  - {match: ");
    put_quoted(out, v->id);
    (void)put_times(r, v, at_begin, out);
    strbuf_puts(out, "}\n");
}

static void put_alloc(struct strbuf *out, const char *key, const struct alloc *x)
{
    strbuf_printf(out, ", %s: {reservation: %.12g, shares: %.12g", key, x->reservation, x->shares);
    if (isfinite(x->limit))
        strbuf_printf(out, ", limit: %.12g", x->limit);
    strbuf_puts(out, "}");
}

/* A VM that the snapshot at the beginning does not have, with the facts of the newest one. */
static void put_new_vm(const struct recording *r, const struct recorded_vm *v, struct vm_counts *n,
                       struct strbuf *out)
{
    uint32_t ix = r->newest ? snapshot_find_vm(r->newest, v->id) : IX_NONE;

    if (ix == IX_NONE) {
        n->unknown++;
        return;
    }
    if (n->entries == ENTRIES_MAX) {
        n->left_out++;
        return;
    }
    const struct vm_facts *is = &r->newest->vms[ix].is;
    uint32_t pool = r->newest->vms[ix].pool;

    n->entries++;
    n->came++;
    strbuf_puts(out, "  - {name: ");
    put_quoted(out, v->id);
    strbuf_printf(out, ", vcpus: %u, mem_mb: %.12g, overhead_mb: %.12g, workload: trace", is->vcpus,
                  is->mem_mb, isnan(is->overhead_mb) ? 0 : is->overhead_mb);
    put_alloc(out, "cpu", &is->alloc[RES_CPU]);
    put_alloc(out, "mem", &is->alloc[RES_MEM]);
    if (pool != IX_NONE && snapshot_find_pool(r->snapshot, r->newest->pools[pool].is.id) != IX_NONE) {
        strbuf_puts(out, ", pool: ");
        put_quoted(out, r->newest->pools[pool].is.id);
    }
    (void)put_times(r, v, false, out);
    strbuf_puts(out, "}\n");
}

static void put_vms(const struct recording *r, struct vm_counts *n, struct strbuf *out)
{
    const struct snapshot *s = r->snapshot;

    strbuf_puts(out, "vms:\n");
    if (s->n_vms > 0)
        strbuf_puts(out, "  - {match: \"*\", workload: trace}\n");
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct recorded_vm *v = recording_find_vm(r, s->vms[i].is.id);
        bool on = s->vms[i].is.state == VM_ON;
        if (v)
            put_known_vm(r, v, on, n, out);
        else
            n->without += on;
    }
    for (size_t i = 0; i < r->n_vms; i++) {
        if (snapshot_find_vm(s, r->vms[i].id) == IX_NONE)
            put_new_vm(r, &r->vms[i], n, out);
    }
}

/* ---- what is not repeated ---- */

static void note_vms(const struct recording *r, const struct vm_counts *n, struct arena *a,
                     struct backtest_notes *notes)
{
    if (r->times_off > 0)
        note(notes, a,
             arena_printf(a,
                          "VMs were off for a time %u times: in the simulation they are on meanwhile, and "
                          "want nothing.",
                          r->times_off));
    if (n->came > 0)
        note(notes, a,
             arena_printf(a,
                          "%u VMs that were powered on meanwhile are placed anew, which may be another host.",
                          n->came));
    if (n->unknown > 0)
        note(notes, a,
             arena_printf(a,
                          "%u VMs came and went, and no snapshot that is kept has them: they are left out.",
                          n->unknown));
    if (n->left_out > 0)
        note(notes, a, arena_printf(a, "The coming and going of %u more VMs is left out.", n->left_out));
    if (n->without > 0)
        note(
            notes, a,
            arena_printf(a, "No demand is recorded of %u VMs: they keep that of the beginning.", n->without));
}

static void note_recording(const struct recording *r, struct arena *a, struct backtest_notes *notes)
{
    if (r->unseen_s > 0)
        note(notes, a,
             arena_printf(a, "For %.1f h nothing was recorded: VMs keep their demand meanwhile.",
                          r->unseen_s / 3600));
    if (r->means_s > 0)
        note(notes, a,
             arena_printf(a,
                          "For %.1f h VMs want the means of quarters of an hour: bursts are evened out, and "
                          "the imbalance comes out lower than it was.",
                          r->means_s / 3600));
}

static void note_happened(const struct recording *r, const struct policy *policy, struct arena *a,
                          struct backtest_notes *notes)
{
    const struct recorded_figures *f = &r->real;

    if (policy->automation != AUTOMATION_FULL && f->by_people > 0)
        note(notes, a,
             arena_printf(
                 a,
                 "People approved %u migrations. The simulation has no people who approve: automation=full "
                 "shows what the recommendations would have come to.",
                 f->by_people));
    else if (policy->automation != AUTOMATION_FULL)
        note(notes, a,
             "The simulation has no people who approve recommendations: automation=full shows what they "
             "would have come to.");
    if (policy->dpm.automation != AUTOMATION_AUTOMATIC)
        note(notes, a,
             "The simulation has no people who approve standby: dpm.automation=automatic shows what it would "
             "save.");
    if (r->power_by_people > 0)
        note(notes, a,
             arena_printf(a, "People put hosts to standby or woke them %u times: not repeated.",
                          r->power_by_people));
    if (r->settings_changes > 0)
        note(notes, a,
             arena_printf(a, "Settings were changed %u times; the simulation keeps those of the beginning.",
                          r->settings_changes));
    if (r->was_paused)
        note(notes, a, "The service was paused for a time; the simulated one is not.");
    if (r->host_losses > 0)
        note(notes, a, arena_printf(a, "Hosts were out of contact %u times: not repeated.", r->host_losses));
    if (f->kwh_known < 0.99 && !isnan(f->kwh))
        note(notes, a,
             arena_printf(a,
                          "The power of all hosts is known for %.0f %% of the time; the rest is taken to be "
                          "like it.",
                          100 * f->kwh_known));
}

static void note_hosts(const struct recording *r, struct arena *a, struct backtest_notes *notes)
{
    uint32_t came = 0;
    uint32_t went = 0;

    for (uint32_t i = 0; r->newest && i < r->newest->n_hosts; i++)
        came += snapshot_find_host(r->snapshot, r->newest->hosts[i].is.id) == IX_NONE;
    for (uint32_t i = 0; r->newest && i < r->snapshot->n_hosts; i++)
        went += snapshot_find_host(r->newest, r->snapshot->hosts[i].is.id) == IX_NONE;
    if (came > 0)
        note(notes, a, arena_printf(a, "%u hosts that came later are left out.", came));
    if (went > 0)
        note(notes, a, arena_printf(a, "%u hosts that are gone now are there all the time.", went));
}

void backtest_scenario(const struct recording *r, const struct schedule *schedule, struct arena *a,
                       struct strbuf *out, struct backtest_notes *notes)
{
    struct policy policy;
    struct vm_counts n = {0};
    char date[RFC3339_MAX];

    policy_default(&policy);
    if (r->snapshot->policy)
        policy = *r->snapshot->policy;
    rfc3339_format(r->from, date);
    put_key(out, "name: ",
            arena_printf(a, "%s, since %s", r->snapshot->cluster ? r->snapshot->cluster : "cluster", date));
    put_key(out, "start: ", date);
    strbuf_printf(out, "duration_s: %" PRId64 "\nlook_s: %" PRId64 "\n", (int64_t)(r->until - r->from),
                  (int64_t)r->look_s);
    put_key(out, "snapshot: ", BACKTEST_SNAPSHOT);
    put_key(out, "workload: {file: " BACKTEST_SAMPLES ", format: recorded, pick: name, missing: keep, from: ",
            date);
    out->text[--out->len] = '\0';
    strbuf_puts(out, "}\n");
    put_settings(&policy, a, out);
    put_schedule(schedule, out);
    put_migration(r->snapshot, &policy, out);
    put_vms(r, &n, out);
    put_script(r, out);

    if (!r->snapshot->policy)
        note(notes, a, "The snapshot does not have the settings that were in force: they are the defaults.");
    if (!schedule)
        note(notes, a, "The service's schedule of standby is not known (--config): there is none.");
    note_recording(r, a, notes);
    note_happened(r, &policy, a, notes);
    note_vms(r, &n, a, notes);
    note_hosts(r, a, notes);
    note(notes, a, "The simulated service begins without what the real one had learned of earlier days.");
}
