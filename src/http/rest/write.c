/* write.c: makes the tree that goes over the wire from the neutral form, by the table of elements, and writes
 * it as JSON or XML. In the tree of XML the key of an attribute begins with @. */
#include "http/rest/write.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/utf8.h"
#include "http/html.h"

#include <string.h>

struct writer {
    enum rest_format format;
    unsigned version;
};

/* Where an element stands. */
enum place { OUTERMOST, INNER, REFERRED };

/* ---- the tree ---- */

static json_t *wire_element(const struct writer *w, const struct rest_element *e, const json_t *v,
                            const char *path, enum place place);

/* NULL: it is no scalar. */
static json_t *wire_scalar(const struct writer *w, const struct rest_member *m, const json_t *v)
{
    char number[NUMBER_TEXT_MAX];
    json_t *ret = NULL;

    if (json_is_boolean(v))
        ret = json_string(json_is_true(v) ? "true" : "false");
    else if (json_is_real(v))
        ret = json_string(number_format(json_real_value(v), number));
    else if (json_is_integer(v))
        ret = json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_string(v))
        ret = json_deep_copy(v);
    return ret && w->version == 3 && m->flags & REST_STATE_V3 ? json_pack("{s:o}", "state", ret) : ret;
}

static json_t *wire_list(const struct writer *w, const struct rest_member *m, const json_t *list,
                         const char *path)
{
    const struct rest_element *e = rest_element(m->inner);
    const bool referred = m->flags & REST_REFERENCES;
    json_t *items = json_array();
    size_t i;
    const json_t *v;

    json_array_foreach(list, i, v)(void) json_array_append_new(
        items, wire_element(w, e, v, referred ? NULL : path, referred ? REFERRED : INNER));
    return json_pack("{s:o}", e->name, items);
}

static json_t *wire_member(const struct writer *w, const struct rest_member *m, const json_t *v,
                           const char *href)
{
    CLEANUP(strbuf_releasep) struct strbuf path = STRBUF_EMPTY;

    switch (m->form) {
    case REST_TEXT:
    case REST_NUMBER:
    case REST_TRUTH:
        return wire_scalar(w, m, v);
    case REST_OBJECT:
        return wire_element(w, rest_element(m->inner), v, NULL, INNER);
    case REST_REFERENCE:
        return wire_element(w, rest_element(m->inner), v, NULL, REFERRED);
    case REST_LIST:
        return wire_list(w, m, v, NULL);
    case REST_LINK:
        strbuf_printf(&path, "%s/%s", href, m->name);
        return m->inner == REST_NONE ? NULL : wire_list(w, m, v, *href ? path.text : NULL);
    }
    return NULL;
}

static json_t *member_or_new(json_t *object, const char *key, json_t *otherwise)
{
    if (!json_object_get(object, key))
        (void)json_object_set(object, key, otherwise);
    json_decref(otherwise);
    return json_object_get(object, key);
}

/* Empty: it has none. */
static void find_href(const struct rest_element *e, const json_t *v, const char *path, enum place place,
                      struct strbuf *ret)
{
    const char *id = json_string_value(json_object_get(v, "id"));
    const char *given = json_string_value(json_object_get(v, "href"));

    if (given && place != REFERRED)
        strbuf_puts(ret, given);
    else if (path && id)
        strbuf_printf(ret, "%s/%s", path, id);
    else if (e->collection && !*e->collection)
        strbuf_puts(ret, REST_ROOT);
    else if (e->collection && id)
        strbuf_printf(ret, REST_ROOT "/%s/%s", e->collection, id);
}

/* Of a link that is searched a second one says how. */
static void add_link(const struct writer *w, json_t *to, const struct rest_member *m, const char *href,
                     bool search)
{
    const bool xml = w->format == REST_XML;
    json_t *link = json_pack("{s:o, s:o}", xml ? "@href" : "href",
                             json_sprintf("%s/%s%s", href, m->name, search ? "?search={query}" : ""),
                             xml ? "@rel" : "rel", json_sprintf("%s%s", m->name, search ? "/search" : ""));

    if (m->flags & REST_ACTIONS)
        to = member_or_new(to, "actions", json_object());
    (void)json_array_append_new(member_or_new(to, "link", json_array()), link);
    if (m->flags & REST_SEARCH && !search)
        add_link(w, to, m, href, true);
}

static json_t *wire_element(const struct writer *w, const struct rest_element *e, const json_t *v,
                            const char *path, enum place place)
{
    CLEANUP(strbuf_releasep) struct strbuf href = STRBUF_EMPTY;
    json_t *ret = json_object();

    find_href(e, v, path, place, &href);
    for (const struct rest_member *m = e->members; m->name; m++) {
        const bool attribute = m->flags & REST_ATTRIBUTE || (m->flags & REST_ATTRIBUTE_V3 && w->version == 3);
        const json_t *value = json_object_get(v, m->name);
        char key[REST_NAME_MAX + 2];

        if ((m->flags & REST_ONLY_V3 && w->version != 3) ||
            (place == REFERRED && !(m->flags & REST_ATTRIBUTE)))
            continue;
        (void)snprintf(key, sizeof key, "%s%s", attribute && w->format == REST_XML ? "@" : "", m->name);
        if (strcmp(m->name, "href") == 0 && *href.text)
            (void)json_object_set_new(ret, key, json_string(href.text));
        else if (strcmp(m->name, "href") == 0)
            continue;
        else if (m->form == REST_LINK && !value && place == OUTERMOST && *href.text)
            add_link(w, ret, m, href.text, false);
        else if (value || (m->flags & REST_OWN_ID && json_object_get(v, "id")))
            (void)json_object_set_new(ret, key, wire_member(w, m, value ? value : v, href.text));
    }
    return ret;
}

/* ---- its text ---- */

/* The characters of XML 1.0, section 2.2. Of those that html_text() would replace, what XML can hold is
 * written as a reference. */
static void put_text(struct strbuf *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s) {
        char one[UTF8_BYTES_MAX + 1] = {0};
        bool safe;
        const size_t len = utf8_step(s, &safe);
        const uint32_t code = utf8_length(s) > 0 ? utf8_code_point(s, len) : 0;

        memcpy(one, s, len);
        if (!safe && code > 0 && (code >= ' ' || strchr("\t\n\r", (int)code)) && code / 2 != 0xffff / 2)
            strbuf_printf(out, "&#%u;", code);
        else
            html_text(out, one);
        s += len;
    }
}

static void put_xml(struct strbuf *out, const char *name, const json_t *v)
{
    const char *key;
    json_t *inner, *item;
    size_t i;

    strbuf_printf(out, "<%s", name);
    json_object_foreach((json_t *)v, key, inner)
    {
        if (*key != '@')
            continue;
        strbuf_printf(out, " %s=\"", key + 1);
        put_text(out, json_string_value(inner));
        strbuf_puts(out, "\"");
    }
    /* A line for each element: clients take texts apart by lines. */
    strbuf_puts(out, json_is_object(v) ? ">\n" : ">");
    if (json_is_string(v))
        put_text(out, json_string_value(v));
    json_object_foreach((json_t *)v, key, inner)
    {
        if (json_is_array(inner))
            json_array_foreach(inner, i, item) put_xml(out, key, item);
        else if (*key != '@')
            put_xml(out, key, inner);
    }
    strbuf_printf(out, "</%s>\n", name);
}

static void put_element(const struct writer *w, const struct rest_element *e, const json_t *v,
                        const char *path, struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *wire = wire_element(w, e, v, path, OUTERMOST);

    if (w->format == REST_XML) {
        put_xml(out, e->name, wire);
        return;
    }
    CLEANUP(freep) char *text = json_dumps(wire, JSON_COMPACT | JSON_ENSURE_ASCII);
    strbuf_puts(out, text ? text : "{}");
}

#define DECLARATION "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"

void rest_write(enum rest_kind kind, const json_t *element, enum rest_format format, unsigned version,
                struct strbuf *out)
{
    strbuf_puts(out, format == REST_XML ? DECLARATION : "");
    put_element(&(struct writer){format, version}, rest_element(kind), element, NULL, out);
}

/* Element by element: a collection may have ten thousands. */
void rest_write_list(enum rest_kind kind, const json_t *elements, const char *path, enum rest_format format,
                     unsigned version, struct strbuf *out)
{
    const struct writer w = {format, version};
    const struct rest_element *e = rest_element(kind);
    const bool xml = format == REST_XML;
    size_t i;
    const json_t *v;

    strbuf_printf(out, xml ? DECLARATION "<%s>\n" : "{\"%s\":[", xml ? e->plural : e->name);
    json_array_foreach(elements, i, v)
    {
        strbuf_puts(out, xml || i == 0 ? "" : ",");
        put_element(&w, e, v, path, out);
    }
    strbuf_printf(out, xml ? "</%s>\n" : "]}", e->plural);
}
