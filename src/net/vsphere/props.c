/* props.c: reads properties of vCenter objects page by page. What they mean is the plug-ins' to know. */
#include "net/vsphere/props.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* vSphere 8 supports 45,000 VMs a vCenter; more pages than that are refused. */
#define OBJECTS_MAX 500000

#define TOKEN_MAX 256

const xml_node *vsphere_prop(const struct vsphere_object *o, const char *path)
{
    for (const xml_node *p = xml_child(o->content, "propSet"); p; p = xml_again(p)) {
        if (xml_text_is(xml_child(p, "name"), path))
            return xml_child(p, "val");
    }
    return NULL;
}

static void put_wanted(struct strbuf *b, const struct vsphere_wanted *w)
{
    strbuf_puts(b, "<propSet>");
    soap_put_text(b, "type", w->type);
    for (const char *const *path = w->paths; *path; path++)
        soap_put_text(b, "pathSet", *path);
    strbuf_puts(b, "</propSet>");
}

static const struct vsphere_step *find_step(const struct vsphere_query *q, const char *name)
{
    for (size_t i = 0; i < q->n_steps; i++) {
        if (strcmp(q->steps[i].name, name) == 0)
            return &q->steps[i];
    }
    return NULL;
}

/* Each step is written in full once and referred to by name elsewhere. The full form is written at the
 * outermost place, because some peers resolve a name only below its definition: all siblings are marked
 * before the first is descended into. written: a set of steps. */
static void put_steps(struct strbuf *b, const struct vsphere_query *q, const char *const *names,
                      uint64_t *written)
{
    uint64_t here = 0;

    for (const char *const *name = names; name && *name; name++) {
        const struct vsphere_step *s = find_step(q, *name);
        here |= s ? UINT64_C(1) << (s - q->steps) : 0;
    }
    here &= ~*written;
    *written |= here;
    for (const char *const *name = names; name && *name; name++) {
        const struct vsphere_step *s = find_step(q, *name);
        bool whole = s && (here & UINT64_C(1) << (s - q->steps));

        if (!s)
            continue;
        strbuf_printf(b, "<selectSet xsi:type=\"%s\">", whole ? "TraversalSpec" : "SelectionSpec");
        soap_put_text(b, "name", s->name);
        if (whole) {
            soap_put_text(b, "type", s->type);
            soap_put_text(b, "path", s->path);
            soap_put_text(b, "skip", "false");
            put_steps(b, q, s->then, written);
        }
        strbuf_puts(b, "</selectSet>");
    }
}

static void put_query(struct strbuf *b, const struct vsphere *v, const struct vsphere_query *q)
{
    uint64_t written = 0;

    vsphere_begin(b, "RetrievePropertiesEx", "PropertyCollector", vsphere_content(v)->property_collector);
    strbuf_puts(b, "<specSet>");
    for (size_t i = 0; i < q->n_wanted; i++)
        put_wanted(b, &q->wanted[i]);
    for (size_t i = 0; i < (q->starts ? q->n_starts : 1); i++) {
        strbuf_puts(b, "<objectSet>");
        vsphere_put_ref(b, "obj", q->start_type, q->starts ? q->starts[i] : q->start);
        soap_put_text(b, "skip", q->skip_start ? "true" : "false");
        put_steps(b, q, q->first, &written);
        strbuf_puts(b, "</objectSet>");
    }
    strbuf_puts(b, "</specSet>");
    if (q->page)
        strbuf_printf(b, "<options><maxObjects>%u</maxObjects></options>", q->page);
    else
        strbuf_puts(b, "<options/>");
    vsphere_end(b, "RetrievePropertiesEx");
}

/* Some peers answer a client without a session with empty objects whose properties are all "missing", not
 * with a fault. */
static bool says_logged_out(const xml_node *content)
{
    for (const xml_node *m = xml_child(content, "missingSet"); m; m = xml_again(m)) {
        if (xml_type_is(xml_child(m, "fault/fault"), "NotAuthenticated"))
            return true;
    }
    return false;
}

int vsphere_read_page(const xml_node *payload, const struct vsphere_reader *reader, char *ret_token,
                      size_t token_size, size_t *count, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const xml_node *result = xml_child(payload, "returnval");
    const char *token = xml_text(xml_child(result, "token"), &a);

    for (const xml_node *n = xml_child(result, "objects"); n; n = xml_again(n)) {
        const xml_node *ref = xml_child(n, "obj");
        struct vsphere_object o = {
            .type = xml_attribute(ref, "type", &a), .value = xml_text(ref, &a), .content = n};

        if (!o.type || !o.value || !o.value[0])
            return err_set(err, -EPROTO, "the answer holds an object without type or name");
        if (++*count > OBJECTS_MAX)
            return err_set(err, -EFBIG, "the answer does not end: more than %d objects", OBJECTS_MAX);
        if (says_logged_out(n))
            return err_set(err, -EKEYEXPIRED, "the session has expired");
        int r = reader->object(reader->ctx, &o, err);
        if (r < 0)
            return r;
    }
    if (token && strlen(token) >= token_size)
        return err_set(err, -EPROTO, "the answer's token is too long");
    (void)snprintf(ret_token, token_size, "%s", token ? token : "");
    return 0;
}

static void put_token_call(struct strbuf *b, const struct vsphere *v, const char *method, const char *token)
{
    strbuf_clear(b);
    vsphere_begin(b, method, "PropertyCollector", vsphere_content(v)->property_collector);
    soap_put_text(b, "token", token);
    vsphere_end(b, method);
}

static int retrieve_once(struct vsphere *v, const struct vsphere_query *q,
                         const struct vsphere_reader *reader, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    const char *method = "RetrievePropertiesEx";
    char token[TOKEN_MAX] = "";
    size_t count = 0;
    int r;

    reader->begin(reader->ctx);
    r = vsphere_login(v, err);
    if (r < 0)
        return r;
    put_query(&body, v, q);
    do {
        CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};

        r = vsphere_call_once(v, method, &body, &answer, err);
        if (r < 0)
            return r;
        r = vsphere_read_page(answer.payload, reader, token, sizeof token, &count, err);
        if (r == -EKEYEXPIRED)
            vsphere_expired(v);
        if (r < 0)
            return err_widen(err, "%s: %s", vsphere_url(v), method);
        method = "ContinueRetrievePropertiesEx";
        put_token_call(&body, v, method, token);
    } while (token[0] != '\0');
    return 0;
}

int vsphere_retrieve(struct vsphere *v, const struct vsphere_query *q, const struct vsphere_reader *reader,
                     struct err *err)
{
    int r = retrieve_once(v, q, reader, err);

    if (r == -EKEYEXPIRED)
        r = retrieve_once(v, q, reader, err);
    return r;
}

static void forget_one(void *ctx)
{
    *(struct vsphere_object *)ctx = (struct vsphere_object){0};
}

static int keep_one(void *ctx, const struct vsphere_object *o, struct err *err)
{
    (void)err;
    *(struct vsphere_object *)ctx = (struct vsphere_object){.content = o->content};
    return 0;
}

static int get_once(struct vsphere *v, const struct vsphere_query *q, struct soap_answer *ret_answer,
                    struct vsphere_object *ret_object, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    struct soap_answer answer = {0};
    struct vsphere_reader reader = {.begin = forget_one, .object = keep_one, .ctx = ret_object};
    char token[TOKEN_MAX];
    size_t count = 0;

    forget_one(ret_object);
    int r = vsphere_login(v, err);
    if (r < 0)
        return r;
    put_query(&body, v, q);
    r = vsphere_call_once(v, "RetrievePropertiesEx", &body, &answer, err);
    if (r < 0)
        return r;
    r = vsphere_read_page(answer.payload, &reader, token, sizeof token, &count, err);
    if (r == -EKEYEXPIRED)
        vsphere_expired(v);
    if (r < 0)
        r = err_widen(err, "%s: RetrievePropertiesEx", vsphere_url(v));
    else if (!ret_object->content)
        r = err_set(err, -ENOENT, "%s: there is no %s %s", vsphere_url(v), q->start_type, q->start);
    if (r < 0) {
        soap_answer_release(&answer);
        return r;
    }
    *ret_answer = answer;
    return 0;
}

int vsphere_get(struct vsphere *v, const char *type, const char *value, const char *const *paths,
                struct soap_answer *ret_answer, struct vsphere_object *ret_object, struct err *err)
{
    struct vsphere_wanted wanted = {.type = type, .paths = paths};
    struct vsphere_query q = {.start_type = type, .start = value, .wanted = &wanted, .n_wanted = 1};
    int r = get_once(v, &q, ret_answer, ret_object, err);

    if (r == -EKEYEXPIRED)
        r = get_once(v, &q, ret_answer, ret_object, err);
    return r;
}
