/* night_record.c: one night's figures, as JSON and back. The sentence about them is night_text.c's. */
#include "engine/knowledge/night_record.h"

#include "base/cleanup.h"
#include "base/natural.h"
#include "base/order.h"
#include "base/xalloc.h"
#include "schema/json_tree.h"
#include "schema/reader.h"
#include "schema/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(type_, key, member, flags_)                                                                    \
    {                                                                                                        \
        .name = key, .type = type_, .offset = offsetof(S, member), .flags = flags_                           \
    }

#define S struct night_host
static const struct field host_fields[] = {
    FIELD(FIELD_TEXT, "host", host, FIELD_REQUIRED),
    FIELD(FIELD_TEXT, "host_name", name, FIELD_REQUIRED),
    FIELD(FIELD_INSTANT, "from", from, FIELD_OPTIONAL | FIELD_NULLABLE),
    FIELD(FIELD_INSTANT, "until", until, FIELD_OPTIONAL | FIELD_NULLABLE),
    FIELD(FIELD_NUMBER, "asleep_s", asleep_s, 0),
    FIELD(FIELD_NUMBER, "woke_s", woke_s, FIELD_OPTIONAL | FIELD_NULLABLE),
    FIELD(FIELD_NUMBER, "expected_s", expected_s, FIELD_OPTIONAL | FIELD_NULLABLE),
    FIELD(FIELD_BOOL, "late", late, 0),
    FIELD(FIELD_BOOL, "failed", failed, 0),
    FIELD(FIELD_BOOL, "stayed_on", stayed_on, 0),
    FIELD(FIELD_TEXT, "why", why, FIELD_OPTIONAL | FIELD_NULLABLE),
};
static const struct schema host_schema = {"host of a night", host_fields,
                                          sizeof host_fields / sizeof *host_fields};
#undef S

#define S struct night_record
static const struct field night_fields[] = {
    FIELD(FIELD_INSTANT, "from", from, FIELD_REQUIRED),
    FIELD(FIELD_INSTANT, "until", until, FIELD_REQUIRED),
    FIELD(FIELD_TEXT, "text", text, FIELD_OPTIONAL | FIELD_NULLABLE),
    FIELD(FIELD_TEXT, "next_proof_host", proof_host, FIELD_OPTIONAL | FIELD_NULLABLE),
    FIELD(FIELD_TEXT, "next_proof_host_name", proof_name, FIELD_OPTIONAL | FIELD_NULLABLE),
    FIELD(FIELD_INSTANT, "next_proof_due", proof_due, FIELD_OPTIONAL | FIELD_NULLABLE),
    FIELD(FIELD_TEXT, "next_proof_why", proof_why, FIELD_OPTIONAL | FIELD_NULLABLE),
    FIELD(FIELD_COUNT, "proofs_due", proofs_due, 0),
    FIELD(FIELD_NUMBER, "used_kwh", used_kwh, 0),
    FIELD(FIELD_NUMBER, "all_on_kwh", all_on_kwh, 0),
    FIELD(FIELD_NUMBER, "saved_kwh", saved_kwh, 0),
    FIELD(FIELD_NUMBER, "host_s", host_s, 0),
    FIELD(FIELD_NUMBER, "measured_s", measured_s, 0),
    FIELD(FIELD_NUMBER, "unknown_s", unknown_s, 0),
    FIELD(FIELD_NUMBER, "wanted_mhz_s", wanted[0], 0),
    FIELD(FIELD_NUMBER, "wanted_mb_s", wanted[1], 0),
    FIELD(FIELD_NUMBER, "unmet_mhz_s", unmet[0], 0),
    FIELD(FIELD_NUMBER, "unmet_mb_s", unmet[1], 0),
};
static const struct schema night_schema = {"night", night_fields, sizeof night_fields / sizeof *night_fields};
#undef S

void night_record_set_text(char **to, const char *text)
{
    xstrset(to, text);
}

static void free_host(void *value)
{
    struct night_host *h = value;

    if (!h)
        return;
    free(h->host);
    free(h->name);
    free(h->why);
    free(h);
}

void night_record_release(struct night_record *r)
{
    idmap_release(&r->hosts, free_host);
    free(r->text);
    free(r->proof_host);
    free(r->proof_name);
    free(r->proof_why);
    *r = (struct night_record){0};
}

struct night_host *night_record_host(struct night_record *r, const char *host, const char *name)
{
    void **slot = idmap_slot(&r->hosts, host);

    if (!*slot) {
        struct night_host *h = xcalloc(1, sizeof *h);

        h->host = xstrdup(host);
        h->woke_s = h->expected_s = UNKNOWN;
        *slot = h;
    }
    struct night_host *h = *slot;

    xstrset(&h->name, name ? name : host);
    return h;
}

static int by_name(const void *a, const void *b)
{
    const struct night_host *const *x = a;
    const struct night_host *const *y = b;
    int order = natural_compare((*x)->name, (*y)->name);

    return order != 0 ? order : strcmp((*x)->host, (*y)->host);
}

size_t night_record_hosts(const struct night_record *r, struct arena *a, struct night_host ***ret)
{
    struct night_host **list = arena_array(a, struct night_host *, r->hosts.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < r->hosts.cap; i++) {
        if (r->hosts.entries[i].key)
            list[n++] = r->hosts.entries[i].value;
    }
    order_sort(list, n, sizeof *list, by_name);
    *ret = list;
    return n;
}

void night_record_write(const struct night_record *r, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct night_host **list;
    size_t n = night_record_hosts(r, &a, &list);
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    writer_fields(&w, &night_schema, r);
    jw_begin(&w, "hosts", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++)
        writer_object(&w, NULL, &host_schema, list[i]);
    jw_end(&w);
    jw_end(&w);
    if (out->len > 0 && out->text[out->len - 1] == '\n')
        out->text[--out->len] = '\0';
}

/* The strings that were read are in an arena; the record has its own. */
static int read_host(const struct reader *r, const struct node *n, struct night_record *into)
{
    struct night_host h = {.woke_s = UNKNOWN, .expected_s = UNKNOWN};
    int code = reader_object(r, n, &host_schema, &h);

    if (code < 0)
        return code;
    struct night_host *own = night_record_host(into, h.host, h.name);
    char *host = own->host;
    char *name = own->name;

    *own = h;
    own->host = host;
    own->name = name;
    own->why = xstrdup(h.why);
    return 0;
}

static int read_all(const struct reader *r, const struct node *document, struct night_record *ret)
{
    const struct node *hosts = node_child(document, "hosts");
    int code = reader_object(r, document, &night_schema, ret);

    ret->text = xstrdup(ret->text);
    ret->proof_host = xstrdup(ret->proof_host);
    ret->proof_name = xstrdup(ret->proof_name);
    ret->proof_why = xstrdup(ret->proof_why);
    for (const struct node *n = hosts->first; code == 0 && n; n = n->next)
        code = read_host(r, n, ret);
    return code;
}

int night_record_read(const char *text, struct night_record *ret, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct reader r = {.a = &a, .err = err};
    struct node *document;
    int code = json_tree_parse(text, &a, &document, err);

    *ret = (struct night_record){0};
    if (code == 0) {
        const struct node *hosts = node_child(document, "hosts");

        code = hosts && hosts->kind == NODE_LIST ? read_all(&r, document, ret) : -EINVAL;
    }
    if (code < 0)
        night_record_release(ret);
    return code;
}
