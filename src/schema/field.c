/* field.c: a field's value as text; copies of values. */
#include "schema/field.h"

#include "base/number.h"

#include <ballast/inventory.h>

#include <math.h>
#include <string.h>

static const void *at(const struct field *f, const void *object)
{
    return (const char *)object + f->offset;
}

static const char *list_text(const char *const *items, struct arena *a)
{
    const char *all = "";

    for (size_t i = 0; items[i]; i++)
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", items[i]);
    return items[0] ? arena_printf(a, "[%s]", all) : NULL;
}

static const char *curve_text(const struct power_curve *c, struct arena *a)
{
    const char *all = "";

    for (uint32_t i = 0; i < c->n; i++)
        all = arena_printf(a, "%s%s%.12g", all, i ? ", " : "", c->watts[i]);
    return c->n > 0 ? arena_printf(a, "[%s]", all) : NULL;
}

static const char *objects_text(const struct field *f, const struct objects *list, struct arena *a)
{
    const char *all = "";

    for (uint32_t i = 0; i < list->n; i++) {
        const char *object = (const char *)list->items + i * f->size;
        const char *inner = "";

        for (size_t k = 0; k < f->inner->n; k++) {
            const char *text = field_text(&f->inner->fields[k], object, a);

            if (text)
                inner = arena_printf(a, "%s%s%s: %s", inner, inner[0] ? ", " : "", f->inner->fields[k].name,
                                     text);
        }
        all = arena_printf(a, "%s%s%s: {%s}", all, i ? ", " : "", *(const char *const *)object, inner);
    }
    return list->n > 0 ? arena_printf(a, "{%s}", all) : NULL;
}

bool field_has_auto(const struct field *f)
{
    return (f->type == FIELD_INT || f->type == FIELD_NUMBER) && f->fallback &&
           strcmp(f->fallback, "auto") == 0;
}

bool field_is_auto(const struct field *f, const void *object)
{
    const void *p = at(f, object);

    return field_has_auto(f) &&
           (f->type == FIELD_INT ? *(const int64_t *)p == FIELD_AUTO : *(const double *)p == FIELD_AUTO);
}

const char *field_text(const struct field *f, const void *object, struct arena *a)
{
    char text[NUMBER_TEXT_MAX];
    const void *p = at(f, object);

    if (field_is_auto(f, object))
        return f->fallback;
    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_PATH:
    case FIELD_SECRET:
    case FIELD_URL:
    case FIELD_ADDRESS:
    case FIELD_MAC:
    case FIELD_CHOICE:
        return *(const char *const *)p;
    case FIELD_BOOL:
        return *(const bool *)p ? "true" : "false";
    case FIELD_INT:
        return arena_printf(a, "%lld", (long long)*(const int64_t *)p);
    case FIELD_WORD:
        return f->words[*(const int *)p];
    case FIELD_COUNT:
        return arena_printf(a, "%u", *(const uint32_t *)p);
    case FIELD_NUMBER:
        return isnan(*(const double *)p) ? NULL : arena_strdup(a, number_format(*(const double *)p, text));
    case FIELD_CURVE:
        return curve_text(p, a);
    case FIELD_LIST:
        return list_text(*(const char *const *const *)p, a);
    case FIELD_OBJECTS:
        return objects_text(f, p, a);
    case FIELD_LIMIT:
    case FIELD_INSTANT:
    case FIELD_IDS:
    case FIELD_LABELS:
    case FIELD_FLAGS:
    case FIELD_OBJECT:
    case FIELD_NODE:
    case FIELD_ROWS:
    case FIELD_OWN:
    case FIELD_SKIPPED:
        break; /* no configuration has them */
    }
    return NULL;
}

const char *field_secret(const struct field *f, const void *object)
{
    return f->type == FIELD_SECRET ? *(const char *const *)((const char *)object + f->secret) : NULL;
}

static struct power_curve copy_curve(const struct power_curve *c, struct arena *a)
{
    return (struct power_curve){arena_copy(a, c->watts, c->n, sizeof *c->watts), c->n};
}

static struct objects copy_objects(const struct field *f, const struct objects *list, struct arena *a)
{
    char *items = arena_alloc(a, list->n, f->size);

    for (size_t i = 0; i < list->n; i++) {
        const char *from = (const char *)list->items + i * f->size;

        *(const char **)(items + i * f->size) = arena_strdup(a, *(const char *const *)from);
        for (size_t k = 0; k < f->inner->n; k++)
            field_copy(&f->inner->fields[k], from, items + i * f->size, a);
    }
    return (struct objects){.items = items, .n = list->n};
}

static struct ids copy_ids(const struct ids *ids, struct arena *a)
{
    return (struct ids){.items = arena_texts(a, ids->items, ids->n), .n = ids->n};
}

static struct labels copy_labels(const struct labels *l, struct arena *a)
{
    struct label *items = arena_array(a, struct label, l->n);

    for (uint32_t i = 0; i < l->n; i++)
        items[i] = (struct label){arena_strdup(a, l->items[i].key), arena_strdup(a, l->items[i].value)};
    return (struct labels){.items = items, .n = l->n};
}

static void copy_object(const struct schema *schema, const void *from, void *to, struct arena *a)
{
    for (size_t i = 0; i < schema->n; i++)
        field_copy(&schema->fields[i], from, to, a);
}

static struct objects copy_rows(const struct field *f, const struct objects *list, struct arena *a)
{
    char *items = arena_copy(a, list->items, list->n, f->size); /* with members that no field is for */

    for (size_t i = 0; i < list->n; i++)
        copy_object(f->inner, (const char *)list->items + i * f->size, items + i * f->size, a);
    return (struct objects){.items = items, .n = list->n};
}

void field_copy(const struct field *f, const void *from, void *to, struct arena *a)
{
    const void *p = at(f, from);
    void *q = (char *)to + f->offset;

    if (f->type == FIELD_SECRET)
        *(const char **)((char *)to + f->secret) = arena_strdup(a, field_secret(f, from));
    switch (f->type) {
    case FIELD_SECRET:
    case FIELD_TEXT:
    case FIELD_PATH:
    case FIELD_URL:
    case FIELD_ADDRESS:
    case FIELD_MAC:
    case FIELD_CHOICE:
        *(const char **)q = arena_strdup(a, *(const char *const *)p);
        break;
    case FIELD_BOOL:
        *(bool *)q = *(const bool *)p;
        break;
    case FIELD_INT:
        *(int64_t *)q = *(const int64_t *)p;
        break;
    case FIELD_WORD:
    case FIELD_COUNT:
    case FIELD_FLAGS:
        *(uint32_t *)q = *(const uint32_t *)p;
        break;
    case FIELD_NUMBER:
        *(double *)q = *(const double *)p;
        break;
    case FIELD_CURVE:
        *(struct power_curve *)q = copy_curve(p, a);
        break;
    case FIELD_LIST:
        *(const char *const **)q = arena_list(a, *(const char *const *const *)p);
        break;
    case FIELD_OBJECTS:
        *(struct objects *)q = copy_objects(f, p, a);
        break;
    case FIELD_IDS:
        *(struct ids *)q = copy_ids(p, a);
        break;
    case FIELD_LABELS:
        *(struct labels *)q = copy_labels(p, a);
        break;
    case FIELD_ROWS:
        *(struct objects *)q = copy_rows(f, p, a);
        break;
    case FIELD_OWN:
        if (f->copy)
            f->copy(p, q, a);
        break;
    case FIELD_OBJECT:
        copy_object(f->inner, p, q, a);
        break;
    case FIELD_LIMIT:
    case FIELD_INSTANT:
    case FIELD_NODE:
    case FIELD_SKIPPED:
        break; /* no field that is copied has these types */
    }
}
