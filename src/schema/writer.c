/* writer.c: objects as JSON. reader.c reads this JSON. */
#include "schema/writer.h"

#include <ballast/inventory.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECTION_MAX 32

void writer_instant(struct json_writer *w, const char *key, instant_s t)
{
    char text[RFC3339_MAX];

    jw_text(w, key, rfc3339_format(t, text));
}

static void write_labels(struct json_writer *w, const char *key, const struct labels *l)
{
    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    for (uint32_t i = 0; i < l->n; i++)
        jw_text(w, l->items[i].key, l->items[i].value);
    jw_end(w);
}

static void write_flags(struct json_writer *w, const struct field *f, unsigned flags)
{
    jw_begin(w, f->name, JW_ARRAY, JW_INLINE);
    for (size_t i = 0; f->words[i]; i++) {
        if (flags >> i & 1u)
            jw_text(w, NULL, f->words[i]);
    }
    jw_end(w);
}

static void write_curve(struct json_writer *w, const char *key, const struct power_curve *c)
{
    jw_begin(w, key, JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < c->n; i++)
        jw_exact(w, NULL, c->watts[i]);
    jw_end(w);
}

static bool is_whole(const struct schema *schema, const void *from);

static bool is_known(const struct field *f, const void *from)
{
    const void *p = (const char *)from + f->offset;

    switch (f->type) {
    case FIELD_TEXT:
        return *(const char *const *)p != NULL;
    case FIELD_NUMBER:
        return f->given ? *(const bool *)((const char *)from + f->given) : !isnan(*(const double *)p);
    case FIELD_COUNT:
        return f->given ? *(const bool *)((const char *)from + f->given) : *(const uint32_t *)p != 0;
    case FIELD_BOOL:
        return *(const bool *)p;
    case FIELD_INSTANT:
        return *(const instant_s *)p != 0;
    case FIELD_IDS:
        return f->given ? *(const bool *)((const char *)from + f->given) : ((const struct ids *)p)->n > 0;
    case FIELD_LABELS:
        return ((const struct labels *)p)->n > 0;
    case FIELD_FLAGS:
        return *(const unsigned *)p != 0;
    case FIELD_CURVE:
        return ((const struct power_curve *)p)->n > 0;
    case FIELD_OBJECT:
        return f->given ? *(const bool *)((const char *)from + f->given) : is_whole(f->inner, p);
    case FIELD_WORD:
        return f->given ? *(const bool *)((const char *)from + f->given)
                        : f->words[*(const int *)p][0] != '\0';
    case FIELD_LIMIT:
        return true;
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
    case FIELD_SKIPPED:
        break; /* no JSON has them */
    case FIELD_ROWS:
        return ((const struct objects *)p)->n > 0;
    case FIELD_OWN:
        return f->known && f->known(p);
    }
    return false;
}

static bool is_whole(const struct schema *schema, const void *from)
{
    for (size_t i = 0; i < schema->n; i++)
        if (schema->fields[i].flags & FIELD_REQUIRED && !is_known(&schema->fields[i], from))
            return false;
    return true;
}

static void write_rows(struct json_writer *w, const struct field *f, const struct objects *rows)
{
    jw_begin(w, f->name, JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < rows->n; i++)
        writer_object(w, NULL, f->inner, (const char *)rows->items + i * f->size);
    jw_end(w);
}

static void write_number(struct json_writer *w, const struct field *f, const void *from)
{
    const void *p = (const char *)from + f->offset;

    if (field_is_auto(f, from))
        jw_text(w, f->name, f->fallback);
    else if (f->type == FIELD_INT)
        jw_int(w, f->name, *(const int64_t *)p);
    else
        jw_exact(w, f->name, *(const double *)p); /* NO_LIMIT is not finite: null */
}

static void write_field(struct json_writer *w, const struct field *f, const void *from)
{
    const void *p = (const char *)from + f->offset;

    switch (f->type) {
    case FIELD_TEXT:
        jw_text(w, f->name, *(const char *const *)p);
        break;
    case FIELD_NUMBER:
    case FIELD_LIMIT:
    case FIELD_INT:
        write_number(w, f, from);
        break;
    case FIELD_COUNT:
        jw_int(w, f->name, *(const uint32_t *)p);
        break;
    case FIELD_BOOL:
        jw_bool(w, f->name, *(const bool *)p);
        break;
    case FIELD_INSTANT:
        writer_instant(w, f->name, *(const instant_s *)p);
        break;
    case FIELD_WORD:
        jw_text(w, f->name, f->words[*(const int *)p]);
        break;
    case FIELD_IDS:
        jw_texts(w, f->name, ((const struct ids *)p)->items, ((const struct ids *)p)->n, JW_INLINE);
        break;
    case FIELD_LABELS:
        write_labels(w, f->name, p);
        break;
    case FIELD_FLAGS:
        write_flags(w, f, *(const unsigned *)p);
        break;
    case FIELD_CURVE:
        write_curve(w, f->name, p);
        break;
    case FIELD_OBJECT:
        writer_object(w, f->name, f->inner, p);
        break;
    case FIELD_PATH:
    case FIELD_SECRET:
    case FIELD_ADDRESS:
    case FIELD_URL:
    case FIELD_MAC:
    case FIELD_CHOICE:
    case FIELD_LIST:
    case FIELD_OBJECTS:
    case FIELD_NODE:
    case FIELD_SKIPPED:
        break; /* no JSON has them */
    case FIELD_ROWS:
        write_rows(w, f, p);
        break;
    case FIELD_OWN:
        if (f->write)
            f->write(w, f->name, p);
        break;
    }
}

void writer_fields(struct json_writer *w, const struct schema *schema, const void *from)
{
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        if (f->type != FIELD_SKIPPED && (!(f->flags & FIELD_OPTIONAL) || is_known(f, from)))
            write_field(w, f, from);
    }
}

void writer_object(struct json_writer *w, const char *key, const struct schema *schema, const void *from)
{
    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    writer_fields(w, schema, from);
    jw_end(w);
}

void writer_lines(struct json_writer *w, const char *key, const struct schema *schema, const void *from)
{
    char section[SECTION_MAX] = ""; /* the one that is open */

    jw_begin(w, key, JW_OBJECT, JW_LINES);
    for (size_t i = 0; i < schema->n; i++) {
        struct field f = schema->fields[i];
        const char *dot = strchr(f.name, '.');
        const size_t len = dot ? (size_t)(dot - f.name) : 0;

        if (section[0] && (strlen(section) != len || strncmp(section, f.name, len) != 0)) {
            jw_end(w);
            section[0] = '\0';
        }
        if (dot && !section[0]) {
            (void)snprintf(section, sizeof section, "%.*s", (int)len, f.name);
            jw_begin(w, section, JW_OBJECT, JW_LINES);
        }
        if (dot)
            f.name = dot + 1;
        write_field(w, &f, from);
    }
    if (section[0])
        jw_end(w);
    jw_end(w);
}
