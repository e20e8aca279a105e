/* body.c: XML becomes JSON as the wire has it; that is checked and read by the table of elements. */
#include "http/rest/body.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/texts.h"
#include "net/xml.h"
#include "request/request.h"

#include <errno.h>
#include <string.h>

/* What a reference says. */
static const struct rest_member reference_members[] = {{"id", REST_TEXT, REST_ATTRIBUTE}, {"name"}, {0}};

static bool is_scalar(const struct rest_member *m)
{
    return m->form == REST_TEXT || m->form == REST_NUMBER || m->form == REST_TRUTH;
}

/* ---- XML ---- */

static json_t *tree_of(const xml_node *node, const struct rest_member *members, struct arena *a);

/* An element with others inside, where a text belongs, becomes an object: it is refused, or a state. */
static json_t *member_tree(const xml_node *node, const struct rest_member *m, struct arena *a)
{
    const struct rest_element *inner = rest_element(m->inner);
    const bool text = is_scalar(m) && !xml_first(node);

    if (m->form == REST_REFERENCE)
        return tree_of(node, reference_members, a);
    if (m->form == REST_OBJECT)
        return tree_of(node, inner->members, a);
    if (is_scalar(m))
        return text ? json_string(xml_text(node, a))
                    : json_pack("{s:s*}", "state", xml_text(xml_child(node, "state"), a));
    json_t *items = json_array();
    for (const xml_node *n = xml_child(node, inner->name); n; n = xml_again(n))
        (void)json_array_append_new(
            items, tree_of(n, m->flags & REST_REFERENCES ? reference_members : inner->members, a));
    return items;
}

static json_t *tree_of(const xml_node *node, const struct rest_member *members, struct arena *a)
{
    json_t *ret = json_object();

    for (const struct rest_member *m = members; m->name; m++) {
        const xml_node *child = xml_child(node, m->name);
        const char *attribute =
            m->flags & (REST_ATTRIBUTE | REST_ATTRIBUTE_V3) ? xml_attribute(node, m->name, a) : NULL;

        if (child)
            (void)json_object_set_new(ret, m->name, member_tree(child, m, a));
        else if (attribute)
            (void)json_object_set_new(ret, m->name, json_string(attribute));
    }
    return ret;
}

static int parse_xml(const struct rest_element *e, const char *text, size_t len, json_t **ret,
                     struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct err why = {0};
    xml_doc *doc;

    if (xml_parse(text, len, &doc, &why) < 0)
        return err_set(err, -EINVAL, "the body: %s", why.text);
    const xml_node *root = xml_root(doc);
    const bool named = xml_is(root, e->name) || (rest_own_id(e) && xml_is(root, "base_resource"));

    if (named)
        *ret = tree_of(root, e->members, &a);
    else
        (void)err_set(err, -EINVAL, "the body is an element %.64s, expected %s", xml_name(root), e->name);
    xml_free(doc);
    return named ? 0 : -EINVAL;
}

/* ---- the neutral form ---- */

static json_t *number_of(const char *text)
{
    double number;
    char *end;

    if (!number_parse(text, &number))
        return NULL;
    errno = 0;
    const long long whole = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0 ? json_integer(whole) : json_real(number);
}

/* NULL: it has another form. */
static json_t *scalar_of(const struct rest_member *m, json_t *v)
{
    const char *text = json_string_value(v);

    if (json_is_object(v)) {
        json_t *state = m->flags & REST_STATE_V3 ? json_object_get(v, "state") : NULL;

        return json_is_string(state) ? json_incref(state) : NULL;
    }
    if (m->form == REST_NUMBER)
        return text ? number_of(text) : json_is_number(v) ? json_incref(v) : NULL;
    if (m->form == REST_TRUTH && text)
        return texts_same(text, "true") || texts_same(text, "false") ? json_boolean(*text == 't') : NULL;
    if (m->form == REST_TRUTH)
        return json_is_boolean(v) ? json_incref(v) : NULL;
    if (text || json_is_array(v))
        return text ? json_incref(v) : NULL;
    CLEANUP(freep) char *written = json_dumps(v, JSON_ENCODE_ANY);
    return json_string(written);
}

static json_t *object_of(const struct rest_member *members, const char *name, json_t *from, unsigned version,
                         struct err *err);

/* A list comes as itself, or within an object as the member that is named like its elements. */
static json_t *list_of(const struct rest_member *m, json_t *from, unsigned version, struct err *err)
{
    const struct rest_element *e = rest_element(m->inner);
    json_t *const inner = json_object_get(from, e->name), *const list = inner ? inner : from;
    json_t *ret = json_array(), *v;
    size_t i;

    json_array_foreach(list, i, v)
    {
        json_t *item =
            object_of(m->flags & REST_REFERENCES ? reference_members : e->members, e->name, v, version, err);

        if (item) {
            (void)json_array_append_new(ret, item);
            continue;
        }
        json_decref(ret);
        return NULL;
    }
    return ret;
}

static bool is_list(const struct rest_member *m, const json_t *v)
{
    const json_t *inner = json_object_get(v, rest_element(m->inner)->name);

    return json_is_array(v) || (json_is_object(v) && (!inner || json_is_array(inner)));
}

/* NULL: see err. */
static json_t *value_of(const struct rest_member *m, const char *of, json_t *v, unsigned version,
                        struct err *err)
{
    static const char *const forms[] = {
        "a text", "a number", "true or false", "an object", "a reference with an id", "a list", "a list"};
    json_t *ret = NULL;

    if (is_scalar(m))
        ret = scalar_of(m, v);
    else if (m->form == REST_OBJECT && json_is_object(v))
        return object_of(rest_element(m->inner)->members, m->name, v, version, err);
    else if (m->form == REST_REFERENCE && json_is_object(v))
        return object_of(reference_members, m->name, v, version, err);
    else if ((m->form == REST_LIST || m->form == REST_LINK) && is_list(m, v))
        return list_of(m, v, version, err);
    if (!ret)
        (void)err_set(err, -EINVAL, "the body: \"%s\" of %s has another form, expected %s", m->name, of,
                      forms[m->form]);
    return ret;
}

static json_t *object_of(const struct rest_member *members, const char *name, json_t *from, unsigned version,
                         struct err *err)
{
    CLEANUP(json_decrefp) json_t *ret = json_object();

    if (!json_is_object(from)) {
        (void)err_set(err, -EINVAL, "the body: %s has another form, expected an object", name);
        return NULL;
    }
    for (const struct rest_member *m = members; m->name; m++) {
        json_t *v = json_object_get(from, m->name), *value;

        if (!v || json_is_null(v) || (m->form == REST_LINK && m->inner == REST_NONE) ||
            (m->flags & REST_ONLY_V3 && version != 3))
            continue;
        if (!(value = value_of(m, name, v, version, err)))
            return NULL;
        (void)json_object_set_new(ret, m->name, value);
        if (m->flags & REST_OWN_ID && json_object_get(value, "id"))
            (void)json_object_set(ret, "id", json_object_get(value, "id"));
    }
    for (const struct rest_member *m = members; m->name; m++) {
        if (m->flags & REST_OWN_ID && json_object_get(ret, "id") && !json_object_get(ret, m->name))
            (void)json_object_set_new(ret, m->name, json_pack("{s:O}", "id", json_object_get(ret, "id")));
    }
    return json_incref(ret);
}

/* ---- version 3 ---- */

/* A property that is there already stays. */
static void add_property(json_t *list, const char *name, const json_t *value, json_int_t divisor)
{
    size_t i;
    const json_t *v;

    json_array_foreach(list, i, v)
    {
        if (texts_same(json_string_value(json_object_get(v, "name")), name))
            return;
    }
    if (json_is_number(value))
        (void)json_array_append_new(
            list, json_pack("{s:s, s:o}", "name", name, "value",
                            json_sprintf("%lld", (long long)(json_number_value(value) / (double)divisor))));
}

/* The words of a cluster's policy in version 3 as those of version 4. */
static void to_version_4(json_t *cluster)
{
    json_t *policy = json_object_get(cluster, "scheduling_policy");
    json_t *thresholds = json_object_get(policy, "thresholds"),
           *given = json_object_get(policy, "properties");

    if (json_object_get(policy, "policy") && !json_object_get(policy, "id") &&
        !json_object_get(policy, "name"))
        (void)json_object_set(policy, "name", json_object_get(policy, "policy"));
    if (thresholds || given) {
        json_t *list = given ? json_incref(given) : json_array();

        add_property(list, "HighUtilization", json_object_get(thresholds, "high"), 1);
        add_property(list, "LowUtilization", json_object_get(thresholds, "low"), 1);
        add_property(list, "CpuOverCommitDurationMinutes", json_object_get(thresholds, "duration"), 60);
        (void)json_object_set_new(cluster, "custom_scheduling_policy_properties", list);
    }
    (void)json_object_del(policy, "policy");
    (void)json_object_del(policy, "thresholds");
    (void)json_object_del(policy, "properties");
}

int rest_read(enum rest_kind kind, enum rest_format format, unsigned version, const char *text, size_t len,
              json_t **ret, struct err *err)
{
    const struct rest_element *e = rest_element(kind);
    CLEANUP(json_decrefp) json_t *tree = NULL;
    json_error_t where;

    if (len > REQUEST_BYTES_MAX)
        return err_set(err, -EINVAL, "a body of more than %zu bytes", REQUEST_BYTES_MAX);
    if (len == 0)
        tree = json_object();
    else if (format == REST_XML && parse_xml(e, text, len, &tree, err) < 0)
        return -EINVAL;
    else if (format == REST_JSON && !(tree = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where)))
        return err_set(err, -EINVAL, "the body is not JSON: %s (line %d)", where.text, where.line);
    json_t *element = object_of(e->members, e->name, tree, version, err);

    if (!element)
        return -EINVAL;
    if (version == 3 && kind == REST_CLUSTER)
        to_version_4(element);
    *ret = element;
    return 0;
}
