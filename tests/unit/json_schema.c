/* conf/schema has a JSON Schema (draft 2020-12) of each format that the programs write. They are made from
 * the tables of the snapshot and from the lists of words, so that no word is missing.
 *
 * When a field or a word changes: unit-json_schema --print NAME > conf/schema/NAME.json
 * tests/cli/formats.py validates what the programs write, and refuses what is broken or not documented. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/answers.h"
#include "model/attributes.h"
#include "model/expression.h"
#include "model/quantities.h"
#include "model/snapshot_fields.h"
#include "request/request.h"
#include "sim/report/metric.h"

#include <ballast/inventory.h>
#include <ballast/plan.h>
#include <ballast/policy.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIALECT "https://json-schema.org/draft/2020-12/schema"

/* ---- values ---- */

static json_t *of_type(const char *type)
{
    return json_pack("{s:s}", "type", type);
}

static json_t *text(void)
{
    return of_type("string");
}

static json_t *number(void)
{
    return of_type("number");
}

static json_t *whole(int least)
{
    return json_pack("{s:s,s:i}", "type", "integer", "minimum", least);
}

static json_t *instant(void)
{
    return json_pack("{s:s,s:s}", "type", "string", "format", "date-time");
}

static json_t *list_of(json_t *items)
{
    return json_pack("{s:s,s:o}", "type", "array", "items", items);
}

static json_t *map_of(json_t *values)
{
    return json_pack("{s:s,s:o}", "type", "object", "additionalProperties", values);
}

static json_t *constant(const char *value)
{
    return json_pack("{s:s}", "const", value);
}

static json_t *one_of(const char *const *words)
{
    json_t *list = json_array();

    for (size_t i = 0; words[i]; i++)
        if (words[i][0])
            json_array_append_new(list, json_string(words[i]));
    return json_pack("{s:o}", "enum", list);
}

/* The words of a list of names.h. */
#define WORD_OF(e, word, meaning) word,
#define WORDS(LIST) one_of((const char *const[]){LIST(WORD_OF) NULL})

/* Also null. */
static json_t *or_null(json_t *value)
{
    json_t *type = json_object_get(value, "type");
    json_t *words = json_object_get(value, "enum");

    if (type)
        json_object_set_new(value, "type", json_pack("[s,s]", json_string_value(type), "null"));
    else if (words)
        json_array_append_new(words, json_null());
    return value;
}

/* ---- objects ---- */

static json_t *object(void)
{
    return json_pack("{s:s,s:{}}", "type", "object", "properties");
}

static void put(json_t *to, const char *name, bool required, json_t *value)
{
    json_object_set_new(json_object_get(to, "properties"), name, value);
    if (!required)
        return;
    if (!json_object_get(to, "required"))
        json_object_set_new(to, "required", json_array());
    json_array_append_new(json_object_get(to, "required"), json_string(name));
}

static json_t *document(const char *format)
{
    json_t *d =
        json_pack("{s:s,s:s,s:s,s:{}}", "$schema", DIALECT, "title", format, "type", "object", "properties");

    put(d, "format", true, constant(format));
    return d;
}

/* ---- by tables ---- */

static json_t *table(const struct schema *schema);

static json_t *attribute_values(void)
{
    return map_of(
        json_pack("{s:[s,s,s,s],s:o}", "type", "number", "string", "boolean", "array", "items", text()));
}

/* An operator and its operands; unit-fit_expression tests what the reader refuses. */
static json_t *expression(void)
{
    return json_pack("{s:[s,s,s,s]}", "type", "array", "string", "boolean", "number");
}

static json_t *value_of(const struct field *f)
{
    switch (f->type) {
    case FIELD_TEXT:
        return text();
    case FIELD_NUMBER:
        return number();
    case FIELD_LIMIT:
        return or_null(number());
    case FIELD_COUNT:
        return whole(0);
    case FIELD_BOOL:
        return of_type("boolean");
    case FIELD_INSTANT:
        return instant();
    case FIELD_WORD:
        return one_of(f->words);
    case FIELD_IDS:
        return json_pack("{s:s,s:o,s:b}", "type", "array", "items", text(), "uniqueItems", 1);
    case FIELD_LABELS:
        return map_of(text());
    case FIELD_FLAGS:
        return list_of(one_of(f->words));
    case FIELD_CURVE:
        return json_pack("{s:s,s:o,s:i,s:i}", "type", "array", "items", number(), "minItems", 2, "maxItems",
                         POWER_POINTS_MAX);
    case FIELD_OBJECT:
        return table(f->inner);
    case FIELD_SKIPPED:
        return json_object(); /* anything */
    case FIELD_PATH:
    case FIELD_SECRET:
    case FIELD_ADDRESS:
    case FIELD_URL:
    case FIELD_MAC:
    case FIELD_CHOICE:
    case FIELD_INT:
    case FIELD_LIST:
    case FIELD_OBJECTS:
    case FIELD_NODE:
        break;
    case FIELD_ROWS:
        return list_of(table(f->inner));
    case FIELD_OWN:
        if (f->read == attributes_read)
            return attribute_values();
        if (f->read == answer_scores_read)
            return list_of(number());
        if (f->read == quantities_read)
            return map_of(table(&quantities_schema));
        if (f->read == expression_read || f->read == expression_read_number ||
            f->read == expression_read_texts)
            return expression();
        break;
    }
    fail_msg("no JSON has the type of %s", f->name);
    return NULL;
}

static json_t *table(const struct schema *schema)
{
    json_t *o = object();

    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        json_t *value = value_of(f);
        put(o, f->name, f->flags & FIELD_REQUIRED, f->flags & FIELD_NULLABLE ? or_null(value) : value);
    }
    return o;
}

static json_t *setting_value(const struct field *f)
{
    if (f->type != FIELD_INT && f->type != FIELD_NUMBER)
        return value_of(f);
    json_t *value = json_pack("{s:s,s:f,s:f}", "type", f->type == FIELD_INT ? "integer" : "number", "minimum",
                              f->min, "maximum", f->max);

    return json_pack("{s:[o,o,o]}", "anyOf", value, constant("auto"), of_type("null"));
}

/* `required`: each setting, in what a command writes with its own. */
static json_t *policy(bool required)
{
    json_t *o = object();

    for (size_t i = 0; i < policy_settings.n; i++) {
        const struct field *f = &policy_settings.fields[i];
        const char *dot = strchr(f->name, '.');
        json_t *into = o;

        if (dot) {
            char group[32];
            (void)snprintf(group, sizeof group, "%.*s", (int)(dot - f->name), f->name);
            if (!json_object_get(json_object_get(o, "properties"), group))
                put(o, group, required, object());
            into = json_object_get(json_object_get(o, "properties"), group);
        }
        put(into, dot ? dot + 1 : f->name, required, setting_value(f));
    }
    return o;
}

static json_t *snapshot_schema(void)
{
    static const struct {
        const char *name;
        const struct schema *of;
    } lists[] = {
        {"hosts", &snapshot_fields_host},           {"vms", &snapshot_fields_vm},
        {"pools", &snapshot_fields_pool},           {"rules", &snapshot_fields_rule},
        {"migrations", &snapshot_fields_migration}, {"pending", &snapshot_fields_pending},
        {"standing", &snapshot_fields_standing},    {"migration_rates", &snapshot_fields_migration_rate},
        {"settings", &snapshot_fields_setting},     {"avoid", &snapshot_fields_avoid},
        {"forecast", &snapshot_fields_expected},    {"quiet", &snapshot_fields_quiet},
        {"groups", &snapshot_fields_group},         {"pipelines", &snapshot_fields_pipeline},
        {"answers", &snapshot_fields_answer}};
    json_t *d = document(SNAPSHOT_FORMAT);
    const struct schema *all = &snapshot_fields_document;

    for (size_t i = 0; i < all->n; i++) {
        const struct field *f = &all->fields[i];
        json_t *value = NULL;

        for (size_t k = 0; k < ELEMENTS(lists); k++)
            if (strcmp(lists[k].name, f->name) == 0)
                value = list_of(table(lists[k].of));
        if (strcmp(f->name, "policy") == 0)
            value = policy(false);
        if (strcmp(f->name, "hosts") == 0)
            json_object_set_new(value, "minItems", json_integer(1));
        if (!value && f->type == FIELD_SKIPPED && strcmp(f->name, "format") != 0)
            fail_msg("which table has the objects of \"%s\"?", f->name);
        if (strcmp(f->name, "format") != 0)
            put(d, f->name, f->flags & FIELD_REQUIRED || strcmp(f->name, "hosts") == 0,
                value ? value : value_of(f));
    }
    return d;
}

/* ---- findings, and what plans and explanations share ---- */

static void put_definition(json_t *d, const char *name, json_t *value)
{
    if (!json_object_get(d, "$defs"))
        json_object_set_new(d, "$defs", json_object());
    json_object_set_new(json_object_get(d, "$defs"), name, value);
}

static json_t *reference(const char *to)
{
    return json_pack("{s:s+}", "$ref", "#/$defs/", to);
}

static json_t *stages_left(void)
{
    json_t *left = object();

    put(left, "stage", true, text());
    put(left, "hosts", true, whole(0));
    return list_of(left);
}

/* The subjects and figures beside a sentence. */
static void put_particulars(json_t *o)
{
    json_t *missing = object();
    json_t *subjects = object();
    json_t *filter = object();
    json_t *known = object();
    json_t *unit = object();
    json_t *figure = json_pack("{s:[s,s]}", "type", "number", "string");
#define PUT_SUBJECT(e, member, of) put(subjects, member, false, text());
    FINDING_SUBJECTS(PUT_SUBJECT)
    put(missing, "kind", true, WORDS(OFFER_KINDS));
    put(missing, "name", true, text());
    put(o, "subjects", false, subjects);
    put(o, "figures", false, map_of(figure));
    put(o, "missing", false, list_of(missing));
    put(filter, "expression", true, expression());
    put(known, "variable", true, text());
    put(known, "value", true, json_object());
    put(filter, "values", true, list_of(known));
    put(o, "filter", false, filter);
    put(o, "words", false, text());
    put(unit, "unit", true, text());
    put(unit, "at", false, instant());
    put(unit, "age_s", false, whole(0));
    put(unit, "words", false, or_null(text()));
    put(unit, "error", false, or_null(text()));
    put(o, "external", false, unit);
    put(o, "stages", false, stages_left());
    put(o, "peer", false, text());
    put(o, "because", false, reference("finding"));
}

static void put_finding(json_t *o, const char *key)
{
    put(o, key, true, or_null(text()));
    put_particulars(o);
}

static void define_finding(json_t *d)
{
    json_t *o = object();

    put(o, "check", false, WORDS(CHECKS));
    put_particulars(o);
    put_definition(d, "finding", o);
}

static json_t *amount(void)
{
    json_t *o = object();

    put(o, "cpu_mhz_s", true, or_null(number()));
    put(o, "mem_mb_s", true, or_null(number()));
    return o;
}

static json_t *metrics(void)
{
    static const char *const figures[] = {"imbalance",  "imbalance_cpu", "imbalance_mem",
                                          "weight_cpu", "weight_mem",    "target"};
    static const char *const scores[] = {"cpu_high", "cpu_low", "mem_high", "mem_low"};
    json_t *o = object();
    json_t *dpm = object();
    json_t *host = object();
    json_t *uneven = object();

    for (size_t i = 0; i < ELEMENTS(figures); i++)
        put(o, figures[i], true, or_null(number()));
    for (size_t i = 0; i < ELEMENTS(scores); i++)
        put(dpm, scores[i], true, or_null(number()));
    put(host, "id", true, text());
    put(host, "cpu", true, or_null(number()));
    put(host, "mem", true, or_null(number()));
    put(uneven, "kind", true, WORDS(UNEVENS));
    put_finding(uneven, "text");
    put(o, "dpm", true, dpm);
    put(o, "hosts", true, list_of(host));
    put(o, "uneven", true, list_of(uneven));
    return o;
}

/* ---- plan ---- */

static json_t *recommendation(void)
{
    json_t *o = object();
    json_t *alternative = object();

    put(alternative, "host", true, text());
    put(alternative, "imbalance_after", true, or_null(number()));
    put_finding(alternative, "text");
    put(o, "id", true, whole(1));
    put(o, "action", true, WORDS(ACTION_KINDS));
    put(o, "priority", true, json_pack("{s:s,s:i,s:i}", "type", "integer", "minimum", 1, "maximum", 5));
    put(o, "vm", true, or_null(text()));
    put(o, "from", true, or_null(text()));
    put(o, "to", true, or_null(text()));
    put(o, "host", true, or_null(text()));
    put(o, "reason", true, WORDS(REASONS));
    put(o, "rule", true, or_null(text()));
    put_finding(o, "text");
    put(o, "depends_on", true, list_of(whole(1)));
    put(o, "group", true, or_null(whole(1)));
    put(o, "imbalance_after", true, or_null(number()));
    put(o, "cost", true, amount());
    put(o, "benefit", true, amount());
    put(o, "duration_s", true, or_null(number()));
    put(o, "alternatives", false, list_of(alternative));
    return o;
}

static json_t *fault(void)
{
    json_t *o = object();

    put(o, "code", true, WORDS(FAULT_CODES));
    put(o, "vm", true, or_null(text()));
    put(o, "host", true, or_null(text()));
    put(o, "rule", true, or_null(text()));
    put_finding(o, "text");
    return o;
}

static json_t *pool_setting(void)
{
    json_t *o = object();

    put(o, "host", true, text());
    put(o, "pool", true, text());
    for (int r = 0; r < RES_COUNT; r++) {
        json_t *alloc = object();
        put(alloc, "reservation", true, or_null(number()));
        put(alloc, "limit", true, or_null(number()));
        put(alloc, "shares", true, or_null(number()));
        put(o, r == RES_CPU ? "cpu" : "mem", true, alloc);
    }
    return o;
}

static json_t *vm_setting(void)
{
    json_t *o = object();
    json_t *cpu = object();

    put(cpu, "limit", true, or_null(number()));
    put(cpu, "shares", true, number());
    put(o, "host", true, text());
    put(o, "vm", true, text());
    put(o, "cpu", true, cpu);
    put(o, "given_back", true, of_type("boolean"));
    return o;
}

static json_t *change(void)
{
    json_t *o = object();

    put(o, "change", true, WORDS(CHANGE_KINDS));
    put(o, "vm", false, text());
    put(o, "cpu_mhz_before", false, number());
    put(o, "cpu_mhz", false, number());
    put(o, "host", false, text());
    put(o, "state_before", false, WORDS(HOST_STATES));
    put(o, "state", false, WORDS(HOST_STATES));
    return o;
}

/* Of place --pipeline ovirt: a host that refuses a VM. */
static json_t *refused(void)
{
    static const char *const members[] = {"vm", "host", "stage", "words", "text"};
    json_t *ret = object();

    for (size_t i = 0; i < ELEMENTS(members); i++)
        put(ret, members[i], true, text());
    return ret;
}

static json_t *plan_schema(void)
{
    static const char *const bound_figures[] = {"imbalance", "least", "gap_percent", "least_with_rules",
                                                "gap_with_rules_percent"};
    json_t *d = document("ballast-plan/1");
    json_t *room = object();
    json_t *end = object();
    json_t *bound = object();
    json_t *stats = object();

    put(end, "check", true, WORDS(CHECKS));
    put(end, "text", true, or_null(text()));
    put(stats, "candidates", true, whole(0));
    put(stats, "evaluated", true, whole(0));
    put(stats, "rejected", true,
        json_pack("{s:s,s:o,s:o}", "type", "object", "propertyNames", WORDS(CHECKS), "additionalProperties",
                  whole(1)));
    put(bound, "moves", true, whole(0));
    for (size_t i = 0; i < ELEMENTS(bound_figures); i++)
        put(bound, bound_figures[i], true, number());
    put(bound, "moves_least", true, or_null(whole(0)));
    put(bound, "text", true, text());
    put(stats, "bound", false, bound);
    put(stats, "decide_us", true, whole(0));
    put(d, "cluster", true, text());
    put(d, "time", true, instant());
    put(d, "policy", true, policy(true));
    put(d, "before", true, reference("metrics"));
    put(d, "after", true, reference("metrics"));
    put(d, "recommendations", true, list_of(recommendation()));
    put(d, "settings", true, list_of(pool_setting()));
    put(d, "vm_settings", false, list_of(vm_setting())); /* of hosts without pools */
    put(d, "faults", true, list_of(fault()));
    put(d, "now", false, reference("metrics")); /* of what-if */
    put(d, "what_if", false, list_of(change()));
    put(room, "before", true, whole(0));
    put(room, "after", true, whole(0));
    put(room, "text", true, text());
    put(d, "room", false, room);
    put(d, "refused", false, list_of(refused()));
    put(d, "end", true, end);
    put(d, "stats", true, stats);
    put_definition(d, "metrics", metrics());
    define_finding(d);
    return d;
}

/* ---- explain ---- */

/* Of a VM, or of a host: then "vm" is null. */
static json_t *explain_schema(void)
{
    json_t *d = json_pack("{s:s,s:s}", "$schema", DIALECT, "title", "ballast-explain/1");
    json_t *vm = object();
    json_t *host = object();
    json_t *candidate = object();
    json_t *load = object();

    put(candidate, "host", true, text());
    put(candidate, "verdict", true, WORDS(VERDICTS));
    put(candidate, "check", true, WORDS(CHECKS));
    put_finding(candidate, "text");
    put(candidate, "imbalance_after", true, or_null(number()));
    put(candidate, "cost", true, or_null(amount()));
    put(candidate, "benefit", true, or_null(amount()));
    put(candidate, "score", false, or_null(number()));
    put(candidate, "scores", false, map_of(or_null(number())));
    put(vm, "format", true, constant("ballast-explain/1"));
    put(vm, "vm", true, text());
    put(vm, "host", true, or_null(text()));
    put(vm, "summary", true, or_null(text()));
    put(vm, "stages", false, stages_left());
    put(vm, "candidates", true, list_of(candidate));

    put(load, "cpu", true, or_null(number()));
    put(load, "mem", true, or_null(number()));
    put(host, "format", true, constant("ballast-explain/1"));
    put(host, "vm", true, of_type("null"));
    put(host, "host", true, text());
    put(host, "state", true, WORDS(HOST_STATES));
    put(host, "verdict", true, WORDS(VERDICTS));
    put(host, "check", true, WORDS(POWER_CHECKS));
    put_finding(host, "text");
    put(host, "outlook", false, or_null(text()));
    put(host, "distrust", false, text());
    put(host, "assumed", false, text());
    put(host, "utilization", true, load);
    put(host, "cost", true, or_null(amount()));
    put(host, "benefit", true, or_null(amount()));
    put(host, "off_s", true, or_null(number()));
    put(host, "watts", true, or_null(number()));
    json_object_set_new(d, "oneOf", json_pack("[o,o]", vm, host));
    define_finding(d);
    return d;
}

/* ---- entitlements ---- */

static json_t *entitlements_schema(void)
{
    static const char *const parts[] = {"set", "divvied"};
    json_t *d = document("ballast-entitlements/1");
    json_t *node = object();

    put(node, "kind", true, one_of((const char *const[]){"pool", "vm", NULL}));
    put(node, "id", true, or_null(text()));
    put(node, "parent", true, or_null(text()));
    put(node, "depth", true, whole(0));
    for (size_t i = 0; i < ELEMENTS(parts); i++) {
        json_t *alloc = object();
        put(alloc, "reservation", true, or_null(number()));
        put(alloc, "limit", true, or_null(number()));
        put(alloc, "shares", true, or_null(number()));
        put(node, parts[i], true, alloc);
    }
    put(node, "demand", true, number());
    put(node, "entitlement", true, number());
    put(d, "cpu", false, list_of(reference("node")));
    put(d, "mem", false, list_of(reference("node")));
    put_definition(d, "node", node);
    return d;
}

/* ---- simulation ---- */

static json_t *figure_or_null(void)
{
    return json_pack("{s:[s,s]}", "type", "number", "null");
}

static json_t *simulation_schema(void)
{
    json_t *d = document("ballast-simulation/1");
    json_t *figures = object();

    for (int m = 0; m < METRIC_COUNT; m++)
        put(figures, metric_name((enum metric_id)m), true, figure_or_null());
    put(d, "scenario", true, or_null(text()));
    put(d, "seed", true, whole(0));
    put(d, "seeds", true, whole(1));
    put(d, "start", true, instant());
    put(d, "duration_s", true, number());
    put(d, "measured_s", true, number());
    put(d, "hosts", true, whole(1));
    put(d, "vms", true, whole(0));
    put(d, "ballast", true, of_type("boolean"));
    put(d, "policy", true, policy(true));
    put(d, "metrics", true, figures);
    put(d, "pools", true, map_of(map_of(figure_or_null())));
    put(d, "vms_lacking_most", false, list_of(of_type("object")));
    put(d, "range", false, map_of(list_of(figure_or_null()))); /* of several seeds: least and most */
    put(d, "runs", false, list_of(of_type("object")));
    return d;
}

/* ---- words ---- */

/* The lists of words, each with its meaning, for the schemas that are written by hand. */
#define MEANING_OF(e, word, meaning) meaning,
#define REQUEST_WORD(e, word, role, meaning) word,
#define REQUEST_MEANING(e, word, role, meaning) meaning,
#define DEFINE_WORDS(d, name, LIST)                                                                          \
    define_words(d, name, (const char *const[]){LIST(WORD_OF) NULL},                                         \
                 (const char *const[]){LIST(MEANING_OF) NULL})

static void define_words(json_t *d, const char *name, const char *const *words, const char *const *meanings)
{
    json_t *text = json_array();
    json_t *lines = NULL;
    CLEANUP(strbuf_releasep) struct strbuf all = {0};

    strbuf_init(&all, STRBUF_NO_LIMIT);
    for (size_t i = 0; words[i]; i++) {
        json_array_append_new(text, json_string(words[i]));
        strbuf_printf(&all, "%s%s: %s", i > 0 ? "; " : "", words[i], meanings[i]);
    }
    lines = json_pack("{s:o,s:s}", "enum", text, "description", all.text);
    put_definition(d, name, lines);
}

static json_t *words_schema(void)
{
    json_t *d = json_pack("{s:s,s:s}", "$schema", DIALECT, "title", "Words of Ballast");

    DEFINE_WORDS(d, "host_state", HOST_STATES);
    DEFINE_WORDS(d, "vm_state", VM_STATES);
    DEFINE_WORDS(d, "failure_detection", FAILURE_DETECTIONS);
    DEFINE_WORDS(d, "automation", AUTOMATIONS);
    DEFINE_WORDS(d, "action_kind", ACTION_KINDS);
    DEFINE_WORDS(d, "action_state", ACTION_STATES);
    DEFINE_WORDS(d, "reason", REASONS);
    DEFINE_WORDS(d, "fault_code", FAULT_CODES);
    DEFINE_WORDS(d, "check", CHECKS);
    DEFINE_WORDS(d, "alike_days", ALIKE_DAYS);
    DEFINE_WORDS(d, "event_kind", EVENTS);
    DEFINE_WORDS(d, "roll_step", ROLL_STEPS);
    DEFINE_WORDS(d, "host_identity", HOST_IDENTITIES);
    define_words(d, "request", (const char *const[]){REQUESTS(REQUEST_WORD) NULL},
                 (const char *const[]){REQUESTS(REQUEST_MEANING) NULL});
    return d;
}

static const struct {
    const char *name;
    json_t *(*make)(void);
} schemas[] = {{"snapshot", snapshot_schema},     {"plan", plan_schema},
               {"explain", explain_schema},       {"entitlements", entitlements_schema},
               {"simulation", simulation_schema}, {"words", words_schema}};

static char *dumped(json_t *schema)
{
    char *bytes = json_dumps(schema, JSON_INDENT(1));

    json_decref(schema);
    return bytes;
}

static void test_files(void **state)
{
    const char *source = getenv("BALLAST_SOURCE_DIR");
    char path[4096];
    char piece[4096];
    size_t len;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(schemas); i++) {
        CLEANUP(strbuf_releasep) struct strbuf found = {0};
        (void)snprintf(path, sizeof path, "%s/conf/schema/%s.json", source ? source : "../..",
                       schemas[i].name);
        CLEANUP(fclosep) FILE *f = fopen(path, "re");
        if (!f)
            fail_msg("%s cannot be read", path);
        strbuf_init(&found, STRBUF_NO_LIMIT);
        while (f && (len = fread(piece, 1, sizeof piece, f)) > 0)
            strbuf_add(&found, piece, len);
        char *expected = dumped(schemas[i].make());
        bool same = strlen(expected) + 1 == found.len && strncmp(found.text, expected, strlen(expected)) == 0;
        free(expected);
        if (!same)
            fail_msg("%s is not up to date: unit-json_schema --print %s > conf/schema/%s.json", path,
                     schemas[i].name, schemas[i].name);
    }
}

static json_t *read_definitions(const char *name)
{
    const char *source = getenv("BALLAST_SOURCE_DIR");
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/conf/schema/%s.json", source ? source : "../..", name);
    json_t *file = json_load_file(path, 0, NULL);
    json_t *definitions = json_incref(json_object_get(file, "$defs"));

    if (!definitions)
        fail_msg("%s has no $defs", path);
    json_decref(file);
    return definitions;
}

/* The files that are written by hand: that their members are those of the program is shown by
 * tests/schemas.py. */
static void test_every_kind_has_a_schema(void **state)
{
    json_t *replies = read_definitions("replies");
    json_t *events = read_definitions("events");

    (void)state;
    for (int i = 0; i < request_kind_count; i++) {
        if (!json_object_get(replies, request_kind_name((enum request_kind)i)))
            fail_msg("conf/schema/replies.json lacks the reply to %s",
                     request_kind_name((enum request_kind)i));
    }
    for (int i = 0; i < event_kind_count; i++) {
        if (!json_object_get(events, event_kind_name((enum event_kind)i)))
            fail_msg("conf/schema/events.json lacks the event %s", event_kind_name((enum event_kind)i));
    }
    json_decref(replies);
    json_decref(events);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_every_kind_has_a_schema)};

    for (size_t i = 0; i < ELEMENTS(schemas) && argc == 3 && strcmp(argv[1], "--print") == 0; i++) {
        if (strcmp(schemas[i].name, argv[2]) != 0)
            continue;
        char *bytes = dumped(schemas[i].make());
        (void)printf("%s\n", bytes);
        free(bytes);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
