#include "model/schema.h"
#include "model/snapshot_json.h"

#include "base/rfc3339.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN_FIELDS_MAX 100
#define POINTER_MAX 256
#define INSTANT_MAX 253402300799 /* 9999-12-31T23:59:59Z */

struct reader {
    struct arena *a;
    struct unknown_fields *unknown;
    struct err *err;
};

/* Where the reader is: a key of an object or an item of an array, and what that is in. */
struct at {
    const struct at *up;
    const char *key; /* NULL: an item */
    size_t ix;
};

/* Cut where it gets too long: only a peer's own keys do. */
static size_t pointer_write(const struct at *at, char ret[POINTER_MAX])
{
    char number[24];
    const char *c = at->key ? at->key : "";
    size_t n = at->up ? pointer_write(at->up, ret) : 0;

    if (!at->key && at->up) {
        (void)snprintf(number, sizeof number, "%zu", at->ix);
        c = number;
    }
    if (n + 1 < POINTER_MAX)
        ret[n++] = '/';
    for (; *c && n + 2 < POINTER_MAX; c++) {
        if (*c == '~' || *c == '/') { /* RFC 6901 */
            ret[n++] = '~';
            ret[n++] = *c == '~' ? '0' : '1';
        } else {
            ret[n++] = *c;
        }
    }
    ret[n] = '\0';
    return n;
}

static int complain(const struct reader *r, const struct at *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int complain(const struct reader *r, const struct at *at, const char *format, ...)
{
    char pointer[POINTER_MAX];
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    (void)pointer_write(at, pointer);
    return err_set(r->err, -EINVAL, "%s: %s", pointer, text);
}

static const char *type_words(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a bool";
    case JSON_NULL:
        return "null";
    }
    return "?";
}

static int wrong_type(const struct reader *r, const struct at *at, const json_t *value, const char *expected)
{
    return complain(r, at, "%s, expected %s", type_words(value), expected);
}

static int read_string(const struct reader *r, const struct at *at, const json_t *value, const char **ret)
{
    if (!json_is_string(value))
        return wrong_type(r, at, value, "a string");
    *ret = arena_strdup(r->a, json_string_value(value));
    return 0;
}

static int read_count(const struct reader *r, const struct at *at, const json_t *value, uint32_t *ret)
{
    if (!json_is_number(value))
        return wrong_type(r, at, value, "a whole number");
    double v = json_number_value(value);
    if (!(v >= 0 && v <= INT32_MAX && v == floor(v)))
        return complain(r, at, "%.12g, expected a whole number from 0 to %d", v, INT32_MAX);
    *ret = (uint32_t)v;
    return 0;
}

static int read_instant(const struct reader *r, const struct at *at, const json_t *value, instant_s *ret)
{
    instant_s t;

    if (!json_is_string(value))
        return wrong_type(r, at, value, "an instant like \"2026-01-01T00:00:00Z\"");
    if (rfc3339_parse(json_string_value(value), &t) < 0 || t < 0 || t > INSTANT_MAX)
        return complain(r, at, "\"%.40s\" is no instant, expected one like \"2026-01-01T00:00:00Z\"",
                        json_string_value(value));
    *ret = t;
    return 0;
}

static int read_word(const struct reader *r, const struct at *at, const json_t *value,
                     const struct words *words, int *ret)
{
    char list[256] = "";
    size_t used = 0;
    int v;

    if (json_is_string(value) && words->parse(json_string_value(value), &v) == 0 &&
        words->allowed >> v & 1u) {
        *ret = v;
        return 0;
    }
    for (int i = 0; i < words->n; i++) {
        if (!(words->allowed >> i & 1u) || used >= sizeof list)
            continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", words->name(i));
    }
    if (!json_is_string(value))
        return complain(r, at, "%s, expected one of %s", type_words(value), list);
    return complain(r, at, "\"%.40s\" is not known, expected one of %s", json_string_value(value), list);
}

static int read_ids(const struct reader *r, const struct at *at, const json_t *value, struct ids *ret)
{
    if (!json_is_array(value))
        return wrong_type(r, at, value, "an array of ids");
    size_t n = json_array_size(value);
    const char **items = arena_array(r->a, const char *, n);

    for (size_t i = 0; i < n; i++) {
        const struct at item = {.up = at, .ix = i};
        int rc = read_string(r, &item, json_array_get(value, i), &items[i]);
        if (rc < 0)
            return rc;
    }
    *ret = (struct ids){.items = items, .n = (uint32_t)n};
    return 0;
}

static int read_labels(const struct reader *r, const struct at *at, const json_t *value, struct labels *ret)
{
    if (!json_is_object(value))
        return wrong_type(r, at, value, "an object of strings");
    struct label *items = arena_array(r->a, struct label, json_object_size(value));
    uint32_t n = 0;
    const char *key;
    json_t *text;

    json_object_foreach((json_t *)value, key, text)
    {
        const struct at item = {.up = at, .key = key};
        int rc = read_string(r, &item, text, &items[n].value);
        if (rc < 0)
            return rc;
        items[n++].key = arena_strdup(r->a, key);
    }
    *ret = (struct labels){.items = items, .n = n};
    return 0;
}

static int read_wake(const struct reader *r, const struct at *at, const json_t *value, unsigned *ret)
{
    unsigned methods = 0;

    if (!json_is_array(value))
        return wrong_type(r, at, value, "an array of ipmi, redfish, wol and hypervisor");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct at item = {.up = at, .ix = i};
        const json_t *word = json_array_get(value, i);
        unsigned bit = 0;
        for (size_t w = 0; json_is_string(word) && w < n_wake_words; w++) {
            if (strcmp(wake_words[w].word, json_string_value(word)) == 0)
                bit = wake_words[w].bit;
        }
        if (bit == 0)
            return complain(r, &item, "unknown, expected one of ipmi, redfish, wol, hypervisor");
        methods |= bit;
    }
    *ret = methods;
    return 0;
}

static int read_object(const struct reader *r, const struct at *at, const json_t *object,
                       const struct schema *schema, void *into);

static int read_field(const struct reader *r, const struct at *at, const json_t *value, const struct field *f,
                      void *into)
{
    void *p = (char *)into + f->offset;

    switch (f->type) {
    case FIELD_TEXT:
        return read_string(r, at, value, p);
    case FIELD_LIMIT:
        if (json_is_null(value)) {
            *(double *)p = NO_LIMIT;
            return 0;
        }
        if (!json_is_number(value))
            return wrong_type(r, at, value, "a number or null");
        *(double *)p = json_number_value(value);
        return 0;
    case FIELD_NUMBER:
        if (!json_is_number(value))
            return wrong_type(r, at, value, "a number");
        *(double *)p = json_number_value(value);
        return 0;
    case FIELD_COUNT:
        return read_count(r, at, value, p);
    case FIELD_BOOL:
        if (!json_is_boolean(value))
            return wrong_type(r, at, value, "true or false");
        *(bool *)p = json_is_true(value);
        return 0;
    case FIELD_INSTANT:
        return read_instant(r, at, value, p);
    case FIELD_WORD:
        return read_word(r, at, value, f->words, p);
    case FIELD_IDS:
        if (f->given)
            *(bool *)((char *)into + f->given) = true;
        return read_ids(r, at, value, p);
    case FIELD_LABELS:
        return read_labels(r, at, value, p);
    case FIELD_WAKE:
        return read_wake(r, at, value, p);
    case FIELD_OBJECT:
        return read_object(r, at, value, f->inner, into);
    case FIELD_SKIPPED:
        return 0;
    }
    return 0;
}

static bool schema_has(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->n; i++) {
        if (strcmp(schema->fields[i].name, name) == 0)
            return true;
    }
    return false;
}

static void note_unknown(const struct reader *r, const struct at *at, const struct schema *schema)
{
    struct unknown_fields *u = r->unknown;
    char pointer[POINTER_MAX];

    for (size_t i = 0; i < u->n; i++) {
        if (u->items[i].what == schema->what && strcmp(u->items[i].name, at->key) == 0) {
            u->items[i].n++;
            return;
        }
    }
    if (u->n >= UNKNOWN_FIELDS_MAX) {
        u->more++;
        return;
    }
    (void)pointer_write(at, pointer);
    u->items = arena_grow(r->a, u->items, u->n, &u->cap, sizeof *u->items);
    u->items[u->n++] = (struct unknown_field){
        .pointer = arena_strdup(r->a, pointer),
        .what = schema->what,
        .name = arena_strdup(r->a, at->key),
        .n = 1,
    };
}

/* Reads by the table, in its order; what is left over is unknown. */
static int read_object(const struct reader *r, const struct at *at, const json_t *object,
                       const struct schema *schema, void *into)
{
    size_t known = 0;

    if (!json_is_object(object))
        return wrong_type(r, at, object, "an object");
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        const struct at here = {.up = at, .key = f->name};
        const json_t *value = json_object_get(object, f->name);
        if (value)
            known++;
        else if (f->flags & FIELD_REQUIRED)
            return complain(r, &here, "missing, expected it in every %s", schema->what);
        if (!value || (json_is_null(value) && f->flags & FIELD_NULLABLE))
            continue;
        int rc = read_field(r, &here, value, f, into);
        if (rc < 0)
            return rc;
    }
    if (known == json_object_size(object) || !r->unknown)
        return 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const struct at here = {.up = at, .key = key};
        if (!schema_has(schema, key))
            note_unknown(r, &here, schema);
    }
    return 0;
}

static void *add_host(struct inventory *inv, struct arena *a)
{
    return inventory_add_host(inv, a);
}

static void *add_pool(struct inventory *inv, struct arena *a)
{
    return inventory_add_pool(inv, a);
}

static void *add_rule(struct inventory *inv, struct arena *a)
{
    return inventory_add_rule(inv, a);
}

static void *add_migration(struct inventory *inv, struct arena *a)
{
    return inventory_add_migration(inv, a);
}

static void *add_pending(struct inventory *inv, struct arena *a)
{
    return inventory_add_pending(inv, a);
}

static void *add_setting(struct inventory *inv, struct arena *a)
{
    return inventory_add_setting(inv, a);
}

/* What depends on other fields is marked as unknown before the VM is read, and made up for after. */
static void *add_vm(struct inventory *inv, struct arena *a)
{
    struct seen_vm *v = inventory_add_vm(inv, a);

    v->is.consumed_mb = UNKNOWN;
    for (int r = 0; r < RES_COUNT; r++) {
        v->is.alloc[r].shares = UNKNOWN;
        v->is.demand[r] = UNKNOWN;
        for (int w = 0; w < WINDOW_COUNT; w++)
            v->is.window[w][r] = (struct demand_stats){UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    }
    return v;
}

/* A demand that nobody told is not zero: memory is taken to be all in use, and without a word on CPU the VM
 * stays where it is. */
static void finish_demand(struct vm_facts *f)
{
    if (isnan(f->demand[RES_MEM]))
        f->demand[RES_MEM] = f->state == VM_ON ? f->consumed_mb : 0;
    if (isnan(f->demand[RES_CPU])) {
        f->demand[RES_CPU] = 0;
        if (f->state == VM_ON)
            f->demand_unknown = true;
    }
}

static void finish_vm(void *item, const json_t *object)
{
    struct seen_vm *v = item;
    struct vm_facts usual = {.vcpus = v->is.vcpus, .mem_mb = v->is.mem_mb};

    (void)object;
    vm_facts_default(&usual);
    if (isnan(v->is.consumed_mb))
        v->is.consumed_mb = usual.consumed_mb;
    finish_demand(&v->is);
    for (int r = 0; r < RES_COUNT; r++) {
        if (isnan(v->is.alloc[r].shares))
            v->is.alloc[r].shares = usual.alloc[r].shares;
        for (int i = 0; i < WINDOW_COUNT; i++) {
            struct demand_stats *w = &v->is.window[i][r];
            if (isnan(w->mean))
                w->mean = v->is.demand[r];
            if (isnan(w->stddev))
                w->stddev = 0;
            if (isnan(w->min))
                w->min = w->mean;
            if (isnan(w->max))
                w->max = w->mean;
        }
    }
}

static void finish_rule(void *item, const json_t *object)
{
    struct seen_rule *rule = item;
    struct rule_facts usual;

    rule_facts_default(&usual, rule->is.kind);
    if (!json_object_get(object, "mandatory"))
        rule->is.mandatory = usual.mandatory;
}

struct list {
    const char *name;
    const struct schema *schema;
    void *(*add)(struct inventory *inv, struct arena *a);
    void (*finish)(void *item, const json_t *object); /* may be NULL */
};

static const struct list lists[] = {
    {"hosts", &schema_host, add_host, NULL},
    {"vms", &schema_vm, add_vm, finish_vm},
    {"pools", &schema_pool, add_pool, NULL},
    {"rules", &schema_rule, add_rule, finish_rule},
    {"migrations", &schema_migration, add_migration, NULL},
    {"pending", &schema_pending, add_pending, NULL},
    {"settings", &schema_setting, add_setting, NULL},
};

static int read_list(const struct reader *r, const json_t *document, const struct list *l,
                     struct inventory *inv)
{
    const struct at root = {.key = l->name};
    const json_t *array = json_object_get(document, l->name);

    if (!array)
        return 0; /* none; whether there must be some is for freezing to say */
    if (!json_is_array(array))
        return wrong_type(r, &root, array, "an array");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const struct at item = {.up = &root, .ix = i};
        const json_t *object = json_array_get(array, i);
        void *into = l->add(inv, r->a);
        int rc = read_object(r, &item, object, l->schema, into);
        if (rc < 0)
            return rc;
        if (l->finish)
            l->finish(into, object);
    }
    return 0;
}

static int read_format(const struct reader *r, const json_t *document)
{
    const struct at at = {.key = "format"};
    const json_t *format = json_object_get(document, "format");

    if (!format)
        return complain(r, &at, "missing, expected \"" SNAPSHOT_FORMAT "\"");
    if (!json_is_string(format))
        return wrong_type(r, &at, format, "\"" SNAPSHOT_FORMAT "\"");
    if (strcmp(json_string_value(format), SNAPSHOT_FORMAT) != 0)
        return complain(r, &at, "\"%.60s\", expected \"" SNAPSHOT_FORMAT "\"", json_string_value(format));
    return 0;
}

static int read_document(const struct reader *r, const json_t *document, struct inventory *ret)
{
    const struct at root = {0};
    struct inventory inv = {0};
    int rc;

    if (!json_is_object(document))
        return wrong_type(r, &root, document, "an object");
    if ((rc = read_format(r, document)) < 0)
        return rc;
    if ((rc = read_object(r, NULL, document, &schema_document, &inv)) < 0)
        return rc;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if ((rc = read_list(r, document, &lists[i], &inv)) < 0)
            return rc;
    }
    *ret = inv;
    return 0;
}

int inventory_read(const char *text, size_t len, struct arena *a, struct inventory *ret,
                   struct unknown_fields *unknown, struct err *err)
{
    const struct reader r = {.a = a, .unknown = unknown, .err = err};
    json_error_t syntax;

    if (len > SNAPSHOT_BYTES_MAX)
        return err_set(err, -EFBIG, "/: %zu bytes, expected at most %zu", len, SNAPSHOT_BYTES_MAX);
    json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &syntax);
    if (!document)
        return err_set(err, -EINVAL, "/: line %d, column %d: %s, expected JSON", syntax.line, syntax.column,
                       syntax.text);
    int rc = read_document(&r, document, ret);
    json_decref(document);
    return rc;
}

const char *unknown_field_text(const struct unknown_field *u, struct arena *a)
{
    if (u->n == 1)
        return arena_printf(a, "%s: unknown field, ignored", u->pointer);
    return arena_printf(a, "%s: unknown field, ignored (as in %zu more of this kind)", u->pointer, u->n - 1);
}
