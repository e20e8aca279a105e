/* reply_summary.c: what happened since a time, in a few figures. It counts what is stored and decides
 * nothing. */
#include "daemon/replies/replies.h"

#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/json_writer.h"
#include "engine/actions/move_result.h"
#include "engine/knowledge/energy_account.h"
#include "engine/knowledge/nights.h"
#include "store/events.h"
#include "store/history.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S (24 * 3600)
#define REASONS_SHOWN 3

/* ---- ended actions --------------------------------------------------------------------------- */

/* Failures with the same reason but for the names and numbers in it. */
struct failure_reason {
    const char *text; /* of the newest */
    uint32_t n;
};

struct ends {
    uint32_t n[action_state_count];
    struct idmap reasons; /* struct failure_reason, by the text without names */
};

/* How often results were as predicted. */
struct agreement {
    uint32_t observed, as_predicted, timed, timed_as_predicted;
};

struct slow_wake {
    const char *host;
    double took_s, expected_s;
};

struct night {
    const struct snapshot *snapshot;
    struct arena *a;
    instant_s now;
    struct ends kinds[action_kind_count];
    struct agreement moves[2]; /* [1]: of moves that overlapped with others */
    uint32_t waiting;          /* moves that are observed within the next minutes */
    uint32_t unobserved;       /* moves without a result: the service was down, or a host was lost */
    uint32_t late;             /* wakes that took longer than expected */
    struct slow_wake slowest;
};

static bool is_word(const char *token, size_t len, const char *word)
{
    return word && strlen(word) == len && memcmp(token, word, len) == 0;
}

/* Whether a part of a reason names something of this action: its VM, its hosts, a number, an address. */
static bool is_particular(const struct night *x, const struct action_record *r, const char *token, size_t len)
{
    const struct snapshot *s = x->snapshot;
    const char *const words[] = {r->vm,
                                 r->from,
                                 r->to,
                                 r->host,
                                 snapshot_vm_name(s, r->vm),
                                 snapshot_host_name(s, r->from),
                                 snapshot_host_name(s, r->to),
                                 snapshot_host_name(s, r->host)};

    while (len > 0 && ispunct((unsigned char)token[len - 1]))
        len--;
    for (size_t i = 0; i < len; i++) {
        if (isdigit((unsigned char)token[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_word(token, len, words[i]))
            return true;
    }
    return false;
}

static const char *general_form(struct night *x, const struct action_record *r, const char *text)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    while (*text) {
        size_t len = strcspn(text, " ");

        if (is_particular(x, r, text, len))
            strbuf_puts(&out, "#");
        else
            strbuf_add(&out, text, len);
        text += len;
        if (*text)
            strbuf_add(&out, text++, 1);
    }
    return arena_strdup(x->a, out.text);
}

static void count_reason(struct night *x, const struct action_record *r)
{
    const char *why = r->why ? r->why : "the reason is not known";
    void **slot = idmap_slot(&x->kinds[r->kind].reasons, general_form(x, r, why));

    if (!*slot)
        *slot = arena_new(x->a, struct failure_reason);
    struct failure_reason *reason = *slot;

    reason->text = arena_strdup(x->a, why); /* they come by their end: the newest wins */
    reason->n++;
}

static void count_result(struct night *x, const struct action_record *r)
{
    const struct move_result *m = &r->result;
    struct agreement *of = &x->moves[m->overlaps];

    if (m->predicted_at == 0 || m->observed_at == 0) {
        if (m->predicted_at != 0 && move_result_is_awaited(r, x->now))
            x->waiting++;
        else
            x->unobserved++;
        return;
    }
    of->observed++;
    of->as_predicted += move_result_agrees(m);
    if (isnan(m->duration_s) || isnan(r->duration_s))
        return;
    of->timed++;
    of->timed_as_predicted += move_result_duration_agrees(m, r->duration_s);
}

static void count_wake(struct night *x, const struct action_record *r)
{
    double took_s = (double)(r->ended - r->started);

    if (!nights_wake_is_late(r))
        return;
    x->late++;
    if (x->slowest.host && took_s - r->duration_s <= x->slowest.took_s - x->slowest.expected_s)
        return;
    x->slowest = (struct slow_wake){arena_strdup(x->a, r->host), took_s, r->duration_s};
}

static void count_end(void *ctx, const struct action_record *r)
{
    struct night *x = ctx;

    x->kinds[r->kind].n[r->state]++;
    if (r->state == ACTION_FAILED)
        count_reason(x, r);
    else if (r->state == ACTION_DONE && r->kind == ACTION_MIGRATE)
        count_result(x, r);
    else if (r->state == ACTION_DONE && r->kind == ACTION_POWER_ON)
        count_wake(x, r);
}

/* ---- ended actions as JSON ------------------------------------------------------------------- */

/* The most frequent reasons; of equally frequent ones, by their text. */
static int by_number(const void *a, const void *b)
{
    const struct failure_reason *const *x = a;
    const struct failure_reason *const *y = b;

    if ((*x)->n != (*y)->n)
        return (*x)->n > (*y)->n ? -1 : 1;
    return strcmp((*x)->text, (*y)->text);
}

static void put_reasons(struct json_writer *w, const struct idmap *reasons, struct arena *a)
{
    const struct failure_reason **list = arena_array(a, const struct failure_reason *, reasons->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < reasons->cap; i++) {
        if (reasons->entries[i].key)
            list[n++] = reasons->entries[i].value;
    }
    qsort(list, n, sizeof *list, by_number);
    jw_begin(w, "reasons", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n && i < REASONS_SHOWN; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_int(w, "n", list[i]->n);
        jw_text(w, "text", list[i]->text);
        jw_end(w);
    }
    jw_end(w);
}

static void put_ends(struct json_writer *w, const char *key, const struct night *x, enum action_kind kind)
{
    const struct ends *of = &x->kinds[kind];

    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    jw_int(w, "done", of->n[ACTION_DONE]);
    jw_int(w, "failed", of->n[ACTION_FAILED]);
    jw_int(w, "cancelled", of->n[ACTION_CANCELLED]);
    jw_int(w, "rejected", of->n[ACTION_REJECTED]);
    put_reasons(w, &of->reasons, x->a);
    if (kind == ACTION_POWER_ON) {
        jw_int(w, "late", x->late);
        jw_text(w, "slowest_host", x->slowest.host);
        jw_text(w, "slowest_host_name", snapshot_host_name(x->snapshot, x->slowest.host));
        jw_figure(w, "slowest_s", x->late ? x->slowest.took_s : UNKNOWN);
        jw_figure(w, "slowest_expected_s", x->late ? x->slowest.expected_s : UNKNOWN);
    }
    jw_end(w);
}

static void put_agreement(struct json_writer *w, const char *key, const struct agreement *of)
{
    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    jw_int(w, "observed", of->observed);
    jw_int(w, "as_predicted", of->as_predicted);
    jw_int(w, "timed", of->timed);
    jw_int(w, "timed_as_predicted", of->timed_as_predicted);
    jw_end(w);
}

static void put_actions(struct json_writer *w, const struct night *x)
{
    put_ends(w, "moves", x, ACTION_MIGRATE);
    jw_begin(w, "predictions", JW_OBJECT, JW_INLINE);
    put_agreement(w, "alone", &x->moves[false]);
    put_agreement(w, "overlapping", &x->moves[true]);
    jw_int(w, "waiting", x->waiting);
    jw_int(w, "unobserved", x->unobserved);
    jw_end(w);
    put_ends(w, "standby", x, ACTION_POWER_OFF);
    put_ends(w, "wakes", x, ACTION_POWER_ON);
    put_ends(w, "placed", x, ACTION_PLACE);
    put_ends(w, "maintenance_entered", x, ACTION_ENTER_MAINTENANCE);
    put_ends(w, "maintenance_left", x, ACTION_EXIT_MAINTENANCE);
}

/* ---- energy, and what VMs lacked ------------------------------------------------------------- */

static void put_worst(struct json_writer *w, const struct energy_record *list, size_t n, enum resource r)
{
    const struct energy_record *worst = NULL;
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        double mean = list[i].span_s > 0 ? list[i].unmet[r] / list[i].span_s : 0;

        if (mean <= most)
            continue;
        most = mean;
        worst = &list[i];
    }
    jw_instant(w, "worst", worst ? worst->time : 0);
    jw_int(w, "worst_length_s", worst ? worst->length_s : 0);
    jw_figure(w, r == RES_CPU ? "worst_mhz" : "worst_mb", most);
}

static void put_lacking(struct json_writer *w, const struct energy_record *total,
                        const struct energy_record *list, size_t n)
{
    static const char *const keys[RES_COUNT] = {[RES_CPU] = "cpu", [RES_MEM] = "mem"};

    jw_begin(w, "lacking", JW_OBJECT, JW_INLINE);
    for (int r = 0; r < RES_COUNT; r++) {
        jw_begin(w, keys[r], JW_OBJECT, JW_INLINE);
        jw_figure(w, r == RES_CPU ? "unmet_mhz_s" : "unmet_mb_s", total->unmet[r]);
        jw_figure(w, "unmet_percent",
                  total->wanted[r] > 0 ? 100 * total->unmet[r] / total->wanted[r] : UNKNOWN);
        put_worst(w, list, n, (enum resource)r);
        jw_end(w);
    }
    jw_end(w);
}

static int put_energy(struct json_writer *w, const struct store_ops *ops, struct store *store,
                      instant_s since, instant_s now, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct energy_record total = {.host = ""};
    struct records found = {0};
    int r = ops->list(store, QUERY_ENERGY, since, &a, &found, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < found.n; i++)
        energy_account_add(&total, &found.energy[i]);
    jw_begin(w, "energy", JW_OBJECT, JW_INLINE);
    jw_instant(w, "from", found.n > 0 ? found.energy[0].time : 0);
    jw_instant(w, "until", total.until);
    reply_energy_put_figures(w, &total);
    jw_end(w);
    put_lacking(w, &total, found.energy, found.n);
    /* Hours are stored whole: the first one may have been read before `since`, too. What is missing of it is
     * taken to be missing at its begin, as after a start of the service. */
    instant_s read = reply_energy_first_instant(found.energy, found.n);
    double asked_s = (double)(now - (read > 0 && read < since ? read : since));

    jw_figure(w, "unread_s", fmax(0, asked_s - total.span_s));
    return 0;
}

/* ---- faults ---------------------------------------------------------------------------------- */

struct fault_state {
    const char *code;
    bool stands, came; /* came: since the night began */
};

struct fault_count {
    const char *code;
    uint32_t came, gone;
};

static const char *fault_key(struct arena *a, const char *code, const char *vm, const char *host)
{
    return arena_printf(a, "%s|%s|%s", code, vm ? vm : "", host ? host : "");
}

/* After a restart each fault that stands is an event again: it has not come anew. */
static void take_fault(struct idmap *states, const struct fault_event *ev, instant_s since, struct arena *a)
{
    void **slot = idmap_slot(states, fault_key(a, ev->code, ev->vm, ev->host));

    if (!*slot)
        *slot = arena_new(a, struct fault_state);
    struct fault_state *f = *slot;

    f->code = ev->code;
    f->came = f->came || (!ev->cleared && !f->stands && ev->time >= since);
    f->stands = !ev->cleared;
}

/* What a restart hid: those that the last pass does not find any more, without an event. */
static void compare_with_plan(struct idmap *states, const struct plan *plan, struct arena *a)
{
    struct idmap there = {0};

    for (uint32_t i = 0; i < plan->n_faults; i++) {
        const struct fault *f = &plan->faults[i];
        const char *vm = f->vm == IX_NONE ? NULL : plan->snap->vms[f->vm].is.id;
        const char *host = f->host == IX_NONE ? NULL : plan->snap->hosts[f->host].is.id;

        *idmap_slot(&there, fault_key(a, fault_code_name(f->code), vm, host)) = a;
    }
    for (size_t i = 0; i < states->cap; i++) {
        if (states->entries[i].key && !idmap_get(&there, states->entries[i].key))
            ((struct fault_state *)states->entries[i].value)->stands = false;
    }
    idmap_release(&there, NULL);
}

static int by_came(const void *a, const void *b)
{
    const struct fault_count *x = a;
    const struct fault_count *y = b;

    if (x->came != y->came)
        return x->came > y->came ? -1 : 1;
    return strcmp(x->code, y->code);
}

static size_t count_by_code(const struct idmap *states, struct fault_count *list)
{
    size_t n = 0;

    for (size_t i = 0; i < states->cap; i++) {
        const struct fault_state *f = states->entries[i].key ? states->entries[i].value : NULL;
        size_t k = 0;

        if (!f || !f->came)
            continue;
        while (k < n && strcmp(list[k].code, f->code) != 0)
            k++;
        if (k == n)
            list[n++] = (struct fault_count){.code = f->code};
        list[k].came++;
        list[k].gone += !f->stands;
    }
    qsort(list, n, sizeof *list, by_came);
    return n;
}

static int put_faults(struct json_writer *w, const struct engine *e, struct store *store, instant_s since,
                      struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct plan *plan = engine_plan(e);
    struct fault_event *events = NULL;
    struct idmap states = {0};
    instant_s from = 0;
    uint32_t came = 0, gone = 0;
    bool more = false;
    size_t n = 0;
    int r = store_list_faults(store, &a, &events, &n, &from, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (events[i].code)
            take_fault(&states, &events[i], since, &a);
        else
            more = more || events[i].time >= since;
    }
    if (plan)
        compare_with_plan(&states, plan, &a);
    struct fault_count *counts = arena_array(&a, struct fault_count, states.n + 1);
    size_t n_counts = count_by_code(&states, counts);

    jw_begin(w, "faults", JW_OBJECT, JW_INLINE);
    jw_instant(w, "from", from > since ? from : since);
    jw_begin(w, "codes", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n_counts; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "code", counts[i].code);
        jw_int(w, "came", counts[i].came);
        jw_int(w, "gone", counts[i].gone);
        jw_end(w);
        came += counts[i].came;
        gone += counts[i].gone;
    }
    jw_end(w);
    jw_int(w, "came", came);
    jw_int(w, "gone", gone);
    jw_bool(w, "more", more);
    jw_int(w, "standing", plan ? plan->n_faults : 0);
    jw_end(w);
    idmap_release(&states, NULL);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int put_summary(struct json_writer *w, const struct engine *e, const struct store_ops *ops,
                       struct store *store, instant_s since, instant_s now, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct night night = {.snapshot = engine_snapshot(e), .a = &a, .now = now};
    const struct event_query lost = {.since = since, .kind = event_kind_name(EVENT_SOURCE_LOST)};
    uint64_t n_lost = 0;
    int r = store_each_end(store, since, count_end, &night, err);

    jw_begin(w, "summary", JW_OBJECT, JW_INLINE);
    jw_instant(w, "since", since);
    jw_instant(w, "until", now);
    if (r == 0)
        put_actions(w, &night);
    for (int i = 0; i < action_kind_count; i++)
        idmap_release(&night.kinds[i].reasons, NULL);
    if (r < 0 || (r = put_energy(w, ops, store, since, now, err)) < 0 ||
        (r = put_faults(w, e, store, since, err)) < 0 ||
        (r = store_count_events(store, &lost, &n_lost, err)) < 0)
        return r;
    jw_int(w, "source_lost", (int64_t)n_lost);
    jw_end(w);
    return 0;
}

int reply_summary(const struct engine *e, const struct store_ops *ops, struct store *store, instant_s since,
                  int64_t days, instant_s now, struct strbuf *out, struct err *err)
{
    struct json_writer w = {.out = out};
    instant_s kept = now - days * DAY_S;

    if (since >= now)
        return err_set(err, -EINVAL, "\"since\": expected a time in the past");
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    int r = put_summary(&w, e, ops, store, since > kept ? since : kept, now, err);

    if (r < 0) {
        strbuf_clear(out);
        return r;
    }
    jw_end(&w);
    return 0;
}
