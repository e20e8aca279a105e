#include "model/object_read.h"

#include "base/rfc3339.h"

#include <ballast/inventory.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN_FIELDS_MAX 100
#define POINTER_MAX 256
#define INSTANT_MAX 253402300799 /* 9999-12-31T23:59:59Z */

static bool is_document(const struct at *at)
{
    return !at->up && !at->key;
}

/* Cut where it gets too long: only a peer's own keys do. */
static size_t pointer_write(const struct at *at, char ret[POINTER_MAX])
{
    char number[24];
    const char *c = at->key ? at->key : "";
    size_t n = at->up && !is_document(at->up) ? pointer_write(at->up, ret) : 0;

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

int read_complaint(const struct reader *r, const struct at *at, const char *format, ...)
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

int read_wrong_type(const struct reader *r, const struct at *at, const json_t *value, const char *expected)
{
    return read_complaint(r, at, "%s, expected %s", type_words(value), expected);
}

static int read_string(const struct reader *r, const struct at *at, const json_t *value, const char **ret)
{
    if (!json_is_string(value))
        return read_wrong_type(r, at, value, "a string");
    *ret = arena_strdup(r->a, json_string_value(value));
    return 0;
}

static int read_count(const struct reader *r, const struct at *at, const json_t *value, uint32_t *ret)
{
    if (!json_is_number(value))
        return read_wrong_type(r, at, value, "a whole number");
    double v = json_number_value(value);
    if (!(v >= 0 && v <= INT32_MAX && v == floor(v)))
        return read_complaint(r, at, "%.12g, expected a whole number from 0 to %d", v, INT32_MAX);
    *ret = (uint32_t)v;
    return 0;
}

static int read_instant(const struct reader *r, const struct at *at, const json_t *value, instant_s *ret)
{
    instant_s t;

    if (!json_is_string(value))
        return read_wrong_type(r, at, value, "an instant like \"2026-01-01T00:00:00Z\"");
    if (rfc3339_parse(json_string_value(value), &t) < 0 || t < 0 || t > INSTANT_MAX)
        return read_complaint(r, at, "\"%.40s\" is no instant, expected one like \"2026-01-01T00:00:00Z\"",
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
        return read_complaint(r, at, "%s, expected one of %s", type_words(value), list);
    return read_complaint(r, at, "\"%.40s\" is not known, expected one of %s", json_string_value(value),
                          list);
}

static int read_ids(const struct reader *r, const struct at *at, const json_t *value, struct ids *ret)
{
    if (!json_is_array(value))
        return read_wrong_type(r, at, value, "an array of ids");
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
        return read_wrong_type(r, at, value, "an object of strings");
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
        return read_wrong_type(r, at, value, "an array of ipmi, redfish, wol and hypervisor");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct at item = {.up = at, .ix = i};
        const json_t *word = json_array_get(value, i);
        unsigned bit = 0;
        for (size_t w = 0; json_is_string(word) && w < n_wake_words; w++) {
            if (strcmp(wake_words[w].word, json_string_value(word)) == 0)
                bit = wake_words[w].bit;
        }
        if (bit == 0)
            return read_complaint(r, &item, "unknown, expected one of ipmi, redfish, wol, hypervisor");
        methods |= bit;
    }
    *ret = methods;
    return 0;
}

static int read_curve(const struct reader *r, const struct at *at, const json_t *value,
                      struct power_curve *ret)
{
    if (!json_is_array(value))
        return read_wrong_type(r, at, value, "an array of watts, from no load to full load");
    size_t n = json_array_size(value);

    if (n < 2 || n > POWER_POINTS_MAX)
        return read_complaint(r, at, "%zu figures, expected 2 to %d, from no load to full load", n,
                              POWER_POINTS_MAX);
    double *watts = arena_array(r->a, double, n);

    for (size_t i = 0; i < n; i++) {
        const struct at item = {.up = at, .ix = i};
        const json_t *number = json_array_get(value, i);

        if (!json_is_number(number))
            return read_wrong_type(r, &item, number, "a number");
        watts[i] = json_number_value(number);
    }
    *ret = (struct power_curve){.watts = watts, .n = (uint32_t)n};
    return 0;
}

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
            return read_wrong_type(r, at, value, "a number or null");
        *(double *)p = json_number_value(value);
        return 0;
    case FIELD_NUMBER:
        if (!json_is_number(value))
            return read_wrong_type(r, at, value, "a number");
        *(double *)p = json_number_value(value);
        return 0;
    case FIELD_COUNT:
        return read_count(r, at, value, p);
    case FIELD_BOOL:
        if (!json_is_boolean(value))
            return read_wrong_type(r, at, value, "true or false");
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
    case FIELD_CURVE:
        return read_curve(r, at, value, p);
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
int read_object(const struct reader *r, const struct at *at, const json_t *object,
                const struct schema *schema, void *into)
{
    size_t known = 0;

    if (!json_is_object(object))
        return read_wrong_type(r, at, object, "an object");
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        const struct at here = {.up = at, .key = f->name};
        const json_t *value = json_object_get(object, f->name);
        if (value)
            known++;
        else if (f->flags & FIELD_REQUIRED)
            return read_complaint(r, &here, "missing, expected it in every %s", schema->what);
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

int read_json(const struct reader *r, const char *text, size_t len, json_t **ret)
{
    json_error_t syntax;

    if (len > SNAPSHOT_BYTES_MAX)
        return err_set(r->err, -EFBIG, "/: %zu bytes, expected at most %zu", len, SNAPSHOT_BYTES_MAX);
    json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &syntax);
    if (!document)
        return err_set(r->err, -EINVAL, "/: line %d, column %d: %s, expected JSON", syntax.line,
                       syntax.column, syntax.text);
    *ret = document;
    return 0;
}

const char *unknown_field_text(const struct unknown_field *u, struct arena *a)
{
    if (u->n == 1)
        return arena_printf(a, "%s: unknown field, ignored", u->pointer);
    return arena_printf(a, "%s: unknown field, ignored (as in %zu more of this kind)", u->pointer, u->n - 1);
}
