/* rows.c: binds records to SQL statements and reads rows back, by a table of columns. */
#include "store/rows.h"

#include "base/cleanup.h"
#include "store/events.h"
#include "store/history.h"
#include "store/series_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN(record, type, name, member)                                                                   \
    {                                                                                                        \
        name, COLUMN_##type, offsetof(struct record, member)                                                 \
    }
#define COUNT(columns) ((int)(sizeof(columns) / sizeof((columns)[0])))
#define TABLE(name, columns)                                                                                 \
    {                                                                                                        \
        (name), (columns), COUNT(columns)                                                                    \
    }

/* The predicted and the observed figures of a move. */
/* clang-format off */
#define RESULT_COLUMNS \
    COLUMN(action_record, I64, "predicted_at", result.predicted_at), \
    COLUMN(action_record, I64, "observed_at", result.observed_at), \
    COLUMN(action_record, REAL, "predicted_from_cpu", result.predicted[MOVE_FROM][RES_CPU]), \
    COLUMN(action_record, REAL, "predicted_from_mem", result.predicted[MOVE_FROM][RES_MEM]), \
    COLUMN(action_record, REAL, "predicted_to_cpu", result.predicted[MOVE_TO][RES_CPU]), \
    COLUMN(action_record, REAL, "predicted_to_mem", result.predicted[MOVE_TO][RES_MEM]), \
    COLUMN(action_record, REAL, "observed_from_cpu", result.observed[MOVE_FROM][RES_CPU]), \
    COLUMN(action_record, REAL, "observed_from_mem", result.observed[MOVE_FROM][RES_MEM]), \
    COLUMN(action_record, REAL, "observed_to_cpu", result.observed[MOVE_TO][RES_CPU]), \
    COLUMN(action_record, REAL, "observed_to_mem", result.observed[MOVE_TO][RES_MEM]), \
    COLUMN(action_record, REAL, "took_s", result.duration_s), \
    COLUMN(action_record, REAL, "downtime_s", result.downtime_s), \
    COLUMN(action_record, REAL, "overhead_s", result.overhead_s), \
    COLUMN(action_record, BOOL, "overlaps", result.overlaps), \
    COLUMN(action_record, REAL, "vm_lack_before", result.vm_lack[0]), \
    COLUMN(action_record, REAL, "vm_lack_after", result.vm_lack[1]), \
    COLUMN(action_record, REAL, "harm", result.harm)
/* clang-format on */

/* What is known of one method that wakes a host; i: the number of its bit. */
/* clang-format off */
#define PROOF_COLUMNS(method, i) \
    COLUMN(host_record, U64, method "_settings", proofs[i].settings), \
    COLUMN(host_record, I64, method "_proven", proofs[i].proven), \
    COLUMN(host_record, I64, method "_failed", proofs[i].failed), \
    COLUMN(host_record, U32, method "_failed_code", proofs[i].failed_code), \
    COLUMN(host_record, TEXT, method "_why", proofs[i].why)
/* clang-format on */

static const struct sql_column action_columns[] = {
    COLUMN(action_record, U64, "id", id),
    COLUMN(action_record, TEXT, "uid", uid),
    COLUMN(action_record, U64, "pass", pass),
    COLUMN(action_record, STATE, "state", state),
    COLUMN(action_record, KIND, "kind", kind),
    COLUMN(action_record, U32, "priority", priority),
    COLUMN(action_record, TEXT, "vm", vm),
    COLUMN(action_record, TEXT, "from_host", from),
    COLUMN(action_record, TEXT, "to_host", to),
    COLUMN(action_record, TEXT, "host", host),
    COLUMN(action_record, REASON, "reason", reason),
    COLUMN(action_record, TEXT, "rule", rule),
    COLUMN(action_record, TEXT, "text", text),
    COLUMN(action_record, NEEDS, "depends_on", depends_on),
    COLUMN(action_record, U32, "move_group", group),
    COLUMN(action_record, REAL, "imbalance_after", imbalance_after),
    COLUMN(action_record, REAL, "cost_cpu", cost[RES_CPU]),
    COLUMN(action_record, REAL, "cost_mem", cost[RES_MEM]),
    COLUMN(action_record, REAL, "benefit_cpu", benefit[RES_CPU]),
    COLUMN(action_record, REAL, "benefit_mem", benefit[RES_MEM]),
    COLUMN(action_record, REAL, "duration_s", duration_s),
    COLUMN(action_record, TEXT, "approved_by", approved_by),
    COLUMN(action_record, TEXT, "task", task),
    COLUMN(action_record, TEXT, "why", why),
    COLUMN(action_record, U32, "attempts", attempts),
    COLUMN(action_record, BOOL, "cancel_asked", cancel_asked),
    COLUMN(action_record, I64, "created", created),
    COLUMN(action_record, I64, "seen", seen),
    COLUMN(action_record, I64, "approved", approved),
    COLUMN(action_record, I64, "started", started),
    COLUMN(action_record, I64, "ended", ended),
    COLUMN(action_record, TEXT, "ended_by", ended_by),
    COLUMN(action_record, U32, "unclear", unclear),
    COLUMN(action_record, BOOL, "refused", refused),
    COLUMN(action_record, U32, "version", version),
    COLUMN(action_record, TEXT, "former_to", former_to),
    COLUMN(action_record, I64, "redirected", redirected),
    COLUMN(action_record, U32, "wake_method", wake_method),
    COLUMN(action_record, TEXT, "identity", identity),
    RESULT_COLUMNS,
};

static const struct sql_column action_end_columns[] = {
    COLUMN(action_record, STATE, "state", state),
    COLUMN(action_record, KIND, "kind", kind),
    COLUMN(action_record, TEXT, "vm", vm),
    COLUMN(action_record, TEXT, "from_host", from),
    COLUMN(action_record, TEXT, "to_host", to),
    COLUMN(action_record, TEXT, "host", host),
    COLUMN(action_record, REAL, "duration_s", duration_s),
    COLUMN(action_record, TEXT, "why", why),
    COLUMN(action_record, I64, "started", started),
    COLUMN(action_record, I64, "ended", ended),
    RESULT_COLUMNS,
};

static const struct sql_column migration_columns[] = {
    COLUMN(migration_record, U64, "action", action),   COLUMN(migration_record, TEXT, "vm", vm),
    COLUMN(migration_record, TEXT, "from_host", from), COLUMN(migration_record, TEXT, "to_host", to),
    COLUMN(migration_record, I64, "started", started), COLUMN(migration_record, I64, "ended", ended),
    COLUMN(migration_record, REAL, "mem_mb", mem_mb),  COLUMN(migration_record, BOOL, "ok", ok),
};

static const struct sql_column rate_columns[] = {
    COLUMN(rate_record, TEXT, "from_host", from),
    COLUMN(rate_record, TEXT, "to_host", to),
    COLUMN(rate_record, REAL, "mb_s", mb_s),
    COLUMN(rate_record, I64, "learned", learned),
};

static const struct sql_column dirty_columns[] = {
    COLUMN(dirty_record, TEXT, "vm", vm),
    COLUMN(dirty_record, REAL, "mb_s", mb_s),
    COLUMN(dirty_record, I64, "learned", learned),
};

static const struct sql_column sample_columns[] = {
    COLUMN(sample_record, TEXT, "vm", vm),
    COLUMN(sample_record, I64, "time", time),
    COLUMN(sample_record, REAL, "cpu_mhz", demand[RES_CPU]),
    COLUMN(sample_record, REAL, "mem_mb", demand[RES_MEM]),
};

static const struct sql_column pass_columns[] = {
    COLUMN(pass_record, U64, "id", id),
    COLUMN(pass_record, I64, "time", time),
    COLUMN(pass_record, TEXT, "trigger", trigger),
    COLUMN(pass_record, REAL, "imbalance_before", imbalance_before),
    COLUMN(pass_record, REAL, "imbalance_after", imbalance_after),
    COLUMN(pass_record, REAL, "target", target),
    COLUMN(pass_record, U32, "recommendations", n_recommendations),
    COLUMN(pass_record, U32, "faults", n_faults),
    COLUMN(pass_record, I64, "decide_us", decide_us),
};

static const struct sql_column setting_columns[] = {
    COLUMN(setting_record, TEXT, "host", host),
    COLUMN(setting_record, TEXT, "pool", pool),
    COLUMN(setting_record, REAL, "cpu_reservation", alloc[RES_CPU].reservation),
    COLUMN(setting_record, LIMIT, "cpu_limit", alloc[RES_CPU].limit),
    COLUMN(setting_record, REAL, "cpu_shares", alloc[RES_CPU].shares),
    COLUMN(setting_record, REAL, "mem_reservation", alloc[RES_MEM].reservation),
    COLUMN(setting_record, LIMIT, "mem_limit", alloc[RES_MEM].limit),
    COLUMN(setting_record, REAL, "mem_shares", alloc[RES_MEM].shares),
};

static const struct sql_column host_columns[] = {
    COLUMN(host_record, TEXT, "host", host),
    COLUMN(host_record, I64, "on_since", on_since),
    COLUMN(host_record, I64, "standby_since", standby_since),
    COLUMN(host_record, I64, "put_down", put_down),
    COLUMN(host_record, I64, "woke", woke),
    COLUMN(host_record, I64, "wake_failed", wake_failed),
    COLUMN(host_record, REAL, "boot_s", boot_s),
    COLUMN(host_record, I64, "seen", seen),
    COLUMN(host_record, I64, "woken_at", woken.at),
    COLUMN(host_record, REASON, "woken_for", woken.reason),
    COLUMN(host_record, U32, "woke_by", woke_by),
    COLUMN(host_record, TEXT, "confirmed", confirmed),
    COLUMN(host_record, TEXT, "confirmed_by", confirmed_by),
    COLUMN(host_record, I64, "confirmed_at", confirmed_at),
    COLUMN(host_record, TEXT, "facts", facts),
    PROOF_COLUMNS("ipmi", 0),
    PROOF_COLUMNS("redfish", 1),
    PROOF_COLUMNS("wol", 2),
    PROOF_COLUMNS("hypervisor", 3),
    COLUMN(host_record, I64, "our_maintenance", our_maintenance),
    COLUMN(host_record, I64, "maintenance", maintenance),
};

static const struct sql_column failure_columns[] = {
    COLUMN(failure_record, TEXT, "vm", vm),          COLUMN(failure_record, TEXT, "host", host),
    COLUMN(failure_record, TEXT, "from_host", from), COLUMN(failure_record, U32, "failures", failures),
    COLUMN(failure_record, U32, "pauses", pauses),   COLUMN(failure_record, U64, "recent", recent),
    COLUMN(failure_record, I64, "failed", failed),   COLUMN(failure_record, I64, "until", until),
    COLUMN(failure_record, I64, "arrived", arrived), COLUMN(failure_record, I64, "departed", departed),
    COLUMN(failure_record, TEXT, "reason", reason),
};

/* Energy columns as stored and as sums; MIN, MAX and SUM keep the column's name. "max(scale)" belongs to no
 * single hour, but is never shown. */
/* clang-format off */
#define ENERGY_COLUMNS(MIN, MAX, SUM) \
    COLUMN(energy_record, I64, MIN("time"), time), \
    COLUMN(energy_record, TEXT, "host", host), \
    COLUMN(energy_record, I64, SUM("length_s"), length_s), \
    COLUMN(energy_record, I64, MAX("until"), until), \
    COLUMN(energy_record, REAL, SUM("span_s"), span_s), \
    COLUMN(energy_record, REAL, SUM("host_s"), host_s), \
    COLUMN(energy_record, REAL, SUM("unknown_s"), unknown_s), \
    COLUMN(energy_record, REAL, SUM("measured_s"), measured_s), \
    COLUMN(energy_record, REAL, SUM("asleep_s"), asleep_s), \
    COLUMN(energy_record, REAL, SUM("used_wh"), used_wh), \
    COLUMN(energy_record, REAL, SUM("all_on_wh"), all_on_wh), \
    COLUMN(energy_record, REAL, SUM("wanted_mhz_s"), wanted[RES_CPU]), \
    COLUMN(energy_record, REAL, SUM("wanted_mb_s"), wanted[RES_MEM]), \
    COLUMN(energy_record, REAL, SUM("unmet_mhz_s"), unmet[RES_CPU]), \
    COLUMN(energy_record, REAL, SUM("unmet_mb_s"), unmet[RES_MEM]), \
    COLUMN(energy_record, REAL, MAX("scale"), scale)
/* clang-format on */

#define AS_IT_IS(name) name
#define MIN_OF(name) "min(" name ")"
#define MAX_OF(name) "max(" name ")"
#define SUM_OF(name) "sum(" name ")"

static const struct sql_column energy_columns[] = {ENERGY_COLUMNS(AS_IT_IS, AS_IT_IS, AS_IT_IS)};
static const struct sql_column energy_sum_columns[] = {ENERGY_COLUMNS(MIN_OF, MAX_OF, SUM_OF)};

static const struct sql_column pattern_columns[] = {
    COLUMN(demand_profile_record, I64, "time", time),
    COLUMN(demand_profile_record, REAL, "mean_cpu", mean[RES_CPU]),
    COLUMN(demand_profile_record, REAL, "mean_mem", mean[RES_MEM]),
    COLUMN(demand_profile_record, REAL, "peak_cpu", peak[RES_CPU]),
    COLUMN(demand_profile_record, REAL, "peak_mem", peak[RES_MEM]),
    COLUMN(demand_profile_record, REAL, "size_cpu", size[RES_CPU]),
    COLUMN(demand_profile_record, REAL, "size_mem", size[RES_MEM]),
    COLUMN(demand_profile_record, REAL, "expected_cpu", expected[RES_CPU]),
    COLUMN(demand_profile_record, REAL, "expected_mem", expected[RES_MEM]),
    COLUMN(demand_profile_record, U32, "days", days),
    COLUMN(demand_profile_record, U32, "of_days", of),
    COLUMN(demand_profile_record, U32, "woken", woken),
};

static const struct sql_column event_columns[] = {
    COLUMN(event_record, U64, "id", id),
    COLUMN(event_record, I64, "time", time),
    COLUMN(event_record, TEXT, "kind", kind),
    COLUMN(event_record, TEXT, "type", type),
    COLUMN(event_record, TEXT, "severity", severity),
    COLUMN(event_record, TEXT, "subject", subject),
    COLUMN(event_record, TEXT, "vm", vm),
    COLUMN(event_record, TEXT, "host", host),
    COLUMN(event_record, TEXT, "to_host", to_host),
    COLUMN(event_record, TEXT, "data", data),
};

static const struct sql_column fault_columns[] = {
    COLUMN(fault_event, I64, "time", time),
    COLUMN(fault_event, BOOL, "kind = 'fault_cleared'", cleared),
    COLUMN(fault_event, TEXT, "json_extract(data, '$.code')", code),
    COLUMN(fault_event, TEXT, "vm", vm),
    COLUMN(fault_event, TEXT, "host", host),
};

static const struct sql_column look_columns[] = {
    COLUMN(series_time, I64, "time", time),
    COLUMN(series_time, I64, "covers_s", covers_s),
};

static const struct sql_column note_columns[] = {
    COLUMN(note, TEXT, "key", key),
    COLUMN(note, TEXT, "value", value),
};

const struct sql_table table_notes = TABLE("notes", note_columns);
const struct sql_table table_note_keys = {"notes", note_columns, 1};
const struct sql_table table_setting_keys = {"settings", setting_columns, 2};
const struct sql_table table_failures = TABLE("failures", failure_columns);
const struct sql_table table_failure_keys = {"failures", failure_columns, 2};
const struct sql_table table_actions = TABLE("actions", action_columns);
const struct sql_table table_action_ends = TABLE("actions", action_end_columns);
const struct sql_table table_migrations = TABLE("migrations", migration_columns);
const struct sql_table table_rates = TABLE("rates", rate_columns);
const struct sql_table table_dirties = TABLE("dirty_rates", dirty_columns);
const struct sql_table table_settings = TABLE("settings", setting_columns);
const struct sql_table table_hosts = TABLE("hosts", host_columns);
const struct sql_table table_patterns = TABLE("patterns", pattern_columns);
const struct sql_table table_samples = TABLE("samples", sample_columns);
const struct sql_table table_passes = TABLE("passes", pass_columns);
const struct sql_table table_energy = TABLE("energy", energy_columns);
const struct sql_table table_energy_sums = TABLE("energy", energy_sum_columns);
const struct sql_table table_events = TABLE("events", event_columns);
const struct sql_table table_new_events = {"events", event_columns + 1, COUNT(event_columns) - 1};
const struct sql_table table_faults = TABLE("events", fault_columns);
const struct sql_table table_looks = TABLE("looks", look_columns);

void row_column_names(const struct sql_table *t, struct strbuf *out)
{
    for (int i = 0; i < t->n; i++)
        strbuf_printf(out, "%s%s", i ? ", " : "", t->columns[i].name);
}

void row_placeholders(const struct sql_table *t, struct strbuf *out)
{
    for (int i = 0; i < t->n; i++)
        strbuf_puts(out, i ? ", ?" : "?");
}

static int bind_text(sqlite3_stmt *st, int i, const char *text)
{
    /* borrowed: the statement is reset before the record is freed */
    return text ? sqlite3_bind_text(st, i, text, -1, SQLITE_STATIC) : sqlite3_bind_null(st, i);
}

static int bind_needs(sqlite3_stmt *st, int i, const struct action_record *action)
{
    CLEANUP(strbuf_releasep) struct strbuf ids = STRBUF_EMPTY;

    for (uint32_t k = 0; k < action->n_depends_on; k++)
        strbuf_printf(&ids, "%s%" PRIu64, k ? "," : "", action->depends_on[k]);
    return sqlite3_bind_text(st, i, ids.text, -1, SQLITE_TRANSIENT);
}

int row_bind(sqlite3_stmt *st, const struct sql_table *t, const void *record)
{
    int rc = SQLITE_OK;

    for (int i = 0; rc == SQLITE_OK && i < t->n; i++) {
        const void *at = (const char *)record + t->columns[i].offset;
        int place = i + 1;

        switch (t->columns[i].type) {
        case COLUMN_U64:
            rc = sqlite3_bind_int64(st, place, (sqlite3_int64) * (const uint64_t *)at);
            break;
        case COLUMN_U32:
            rc = sqlite3_bind_int64(st, place, *(const uint32_t *)at);
            break;
        case COLUMN_BOOL:
            rc = sqlite3_bind_int(st, place, *(const bool *)at);
            break;
        case COLUMN_I64:
            rc = sqlite3_bind_int64(st, place, *(const instant_s *)at);
            break;
        case COLUMN_REAL:
            rc = sqlite3_bind_double(st, place, *(const double *)at); /* a NaN becomes NULL */
            break;
        case COLUMN_LIMIT:
            rc = isfinite(*(const double *)at) ? sqlite3_bind_double(st, place, *(const double *)at)
                                               : sqlite3_bind_null(st, place);
            break;
        case COLUMN_TEXT:
            rc = bind_text(st, place, *(const char *const *)at);
            break;
        case COLUMN_STATE:
            rc = bind_text(st, place, action_state_name(*(const enum action_state *)at));
            break;
        case COLUMN_KIND:
            rc = bind_text(st, place, action_kind_name(*(const enum action_kind *)at));
            break;
        case COLUMN_REASON:
            rc = bind_text(st, place, reason_name(*(const enum reason *)at));
            break;
        case COLUMN_NEEDS:
            rc = bind_needs(st, place, record);
            break;
        }
    }
    return rc;
}

static int unreadable(const struct sql_table *t, const struct sql_column *c, const char *found,
                      struct err *err)
{
    return err_set(err, -EIO, "the store's table %s has \"%.64s\" as %s, which this version does not know",
                   t->name, found ? found : "", c->name);
}

/* Writes ids, ascending, separated by commas. */
static int read_needs(const char *text, struct arena *a, struct action_record *action)
{
    uint32_t n = 0, most = 1;

    for (const char *c = text; *c; c++)
        most += *c == ',';
    uint64_t *ids = arena_array(a, uint64_t, most);

    for (const char *c = text; *c;) {
        char *end = NULL;

        ids[n++] = strtoull(c, &end, 10);
        if (end == c || (*end && *end != ','))
            return -EIO;
        c = *end ? end + 1 : end;
    }
    action->depends_on = ids;
    action->n_depends_on = n;
    return 0;
}

static int read_number(sqlite3_stmt *st, int i, int64_t max, int64_t *ret)
{
    int64_t value = sqlite3_column_int64(st, i);

    if (sqlite3_column_type(st, i) != SQLITE_INTEGER || value < 0 || value > max)
        return -EIO;
    *ret = value;
    return 0;
}

static int read_column(sqlite3_stmt *st, int i, enum column_type type, struct arena *a, void *record,
                       void *at)
{
    const char *text = NULL; /* not read for numbers: SQLite would convert them to text */
    int64_t value = 0;
    int r = 0;

    if (type >= COLUMN_TEXT)
        text = (const char *)sqlite3_column_text(st, i);
    switch (type) {
    case COLUMN_U64:
        if ((r = read_number(st, i, INT64_MAX, &value)) == 0)
            *(uint64_t *)at = (uint64_t)value;
        return r;
    case COLUMN_U32:
        if ((r = read_number(st, i, UINT32_MAX, &value)) == 0)
            *(uint32_t *)at = (uint32_t)value;
        return r;
    case COLUMN_BOOL:
        if ((r = read_number(st, i, 1, &value)) == 0)
            *(bool *)at = value == 1;
        return r;
    case COLUMN_I64:
        return read_number(st, i, INT64_MAX, at);
    case COLUMN_REAL:
        *(double *)at = sqlite3_column_type(st, i) == SQLITE_NULL ? UNKNOWN : sqlite3_column_double(st, i);
        return 0;
    case COLUMN_LIMIT:
        *(double *)at = sqlite3_column_type(st, i) == SQLITE_NULL ? NO_LIMIT : sqlite3_column_double(st, i);
        return 0;
    case COLUMN_TEXT:
        *(const char **)at = arena_strdup(a, text);
        return 0;
    case COLUMN_STATE:
        return text ? action_state_parse(text, at) : -EIO;
    case COLUMN_KIND:
        return text ? action_kind_parse(text, at) : -EIO;
    case COLUMN_REASON:
        return text ? reason_parse(text, at) : -EIO;
    case COLUMN_NEEDS:
        return text ? read_needs(text, a, record) : -EIO;
    }
    return -EIO;
}

int row_read(sqlite3_stmt *st, const struct sql_table *t, struct arena *a, void *record, struct err *err)
{
    for (int i = 0; i < t->n; i++) {
        const struct sql_column *c = &t->columns[i];

        if (read_column(st, i, c->type, a, record, (char *)record + c->offset) < 0)
            return unreadable(t, c, (const char *)sqlite3_column_text(st, i), err);
    }
    return 0;
}
