/* list_text.c: finds the elements of a reply's list, and cuts pages out of the text. */
#include "http/list_text.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/xalloc.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_BYTES 32
#define ETAG_BYTES 16 /* of the hash: enough that two texts never meet */

struct element {
    size_t at, len;
};

struct list_text {
    atomic_size_t references;
    struct shared_text *text, *decoded;
    char member[24];
    pthread_mutex_t lock; /* of what follows, until it is known */
    bool indexed, hashed;
    struct element *elements;
    size_t n, cap;
    char etag[LIST_TEXT_ETAG_SIZE];
};

struct list_text *list_text_new(struct shared_text *text, const char *member)
{
    struct list_text *l = xcalloc(1, sizeof *l);

    atomic_init(&l->references, 1);
    l->text = shared_text_ref(text);
    (void)snprintf(l->member, sizeof l->member, "%s", member ? member : "");
    (void)pthread_mutex_init(&l->lock, NULL);
    return l;
}

struct list_text *list_text_ref(struct list_text *l)
{
    (void)atomic_fetch_add(&l->references, 1);
    return l;
}

void list_text_unref(struct list_text *l)
{
    if (!l || atomic_fetch_sub(&l->references, 1) > 1)
        return;
    (void)pthread_mutex_destroy(&l->lock);
    shared_text_unref(l->text);
    shared_text_unref(l->decoded);
    free(l->elements);
    free(l);
}

/* ---- the places of the elements -------------------------------------------------------------- */

/* Behind the string that begins at `at`. The text is the service's own, so it is valid JSON. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1])
            at++;
    }
    return *at ? at + 1 : at;
}

/* Behind the value that begins at `at`. */
static const char *skip_value(const char *at)
{
    int depth = 0;

    while (*at) {
        if (*at == '"') {
            at = skip_string(at);
        } else {
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
            if (depth < 0 || (depth == 0 && *at == ','))
                return at;
            at++;
        }
        if (depth == 0 && (at[-1] == '}' || at[-1] == ']' || at[-1] == '"'))
            return at;
    }
    return at;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \n\r\t");
}

/* The beginning of the member's value; NULL: there is none. */
static const char *find_member(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = skip_space(text + (*text == '{')); *at == '"';) {
        const char *key = at + 1;

        at = skip_string(at);
        bool same = (size_t)(at - key) == len + 1 && memcmp(key, name, len) == 0;

        at = skip_space(at);
        at = skip_space(at + (*at == ':'));
        if (same)
            return at;
        at = skip_value(at);
        at = skip_space(at);
        at = skip_space(at + (*at == ','));
    }
    return NULL;
}

static void add_element(struct list_text *l, const char *from, const char *to)
{
    l->elements = xalloc_grow(l->elements, l->n, &l->cap, sizeof *l->elements);
    l->elements[l->n++] =
        (struct element){.at = (size_t)(from - shared_text_bytes(l->text)), .len = (size_t)(to - from)};
}

static void find_elements(struct list_text *l)
{
    (void)pthread_mutex_lock(&l->lock);
    const char *at = l->indexed || !l->member[0] ? NULL : find_member(shared_text_bytes(l->text), l->member);

    if (at && *at == '[') {
        at = skip_space(at + 1);
        while (*at && *at != ']') {
            const char *end = skip_value(at);

            if (end == at)
                break;
            add_element(l, at, end);
            at = skip_space(end);
            at = skip_space(at + (*at == ','));
        }
    }
    l->indexed = true;
    (void)pthread_mutex_unlock(&l->lock);
}

/* ---- what is asked of it --------------------------------------------------------------------- */

struct shared_text *list_text_whole(struct list_text *l)
{
    return l->text;
}

const char *list_text_etag(struct list_text *l)
{
    unsigned char hash[HASH_BYTES] = {0};

    (void)pthread_mutex_lock(&l->lock);
    if (!l->hashed) {
        (void)gnutls_hash_fast(GNUTLS_DIG_SHA256, shared_text_bytes(l->text), shared_text_length(l->text),
                               hash);
        l->etag[0] = '"';
        for (size_t i = 0; i < ETAG_BYTES; i++)
            (void)snprintf(l->etag + 1 + 2 * i, 3, "%02x", hash[i]);
        l->etag[LIST_TEXT_ETAG_SIZE - 2] = '"';
        l->hashed = true;
    }
    (void)pthread_mutex_unlock(&l->lock);
    return l->etag;
}

size_t list_text_count(struct list_text *l)
{
    find_elements(l);
    return l->n;
}

/* The raw JSON of the element's member that is its id; empty: it has none. */
static struct iovec id_of(const struct list_text *l, size_t i, const char *member)
{
    const char *text = shared_text_bytes(l->text) + l->elements[i].at;
    const char *at = find_member(text, member);

    return at ? (struct iovec){(void *)at, (size_t)(skip_value(at) - at)} : (struct iovec){0};
}

static size_t find_raw(const struct list_text *l, const char *member, const char *raw, size_t len)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct iovec id = id_of(l, i, member);

        if (id.iov_len == len && memcmp(id.iov_base, raw, len) == 0)
            return i;
    }
    return l->n;
}

uint64_t list_text_element(struct list_text *l, size_t i, struct iovec *ret)
{
    const struct iovec id = id_of(l, i, "id");

    *ret = (struct iovec){(void *)(shared_text_bytes(l->text) + l->elements[i].at), l->elements[i].len};
    return id.iov_base ? strtoull(id.iov_base, NULL, 10) : 0;
}

bool list_text_find(struct list_text *l, const char *id, struct iovec *ret)
{
    CLEANUP(strbuf_releasep) struct strbuf raw = STRBUF_EMPTY;
    struct json_writer w = {.out = &raw};

    find_elements(l);
    jw_text(&w, NULL, id);
    size_t i = find_raw(l, "id", raw.text, raw.len);

    if (i == l->n)
        i = find_raw(l, "id", id, strlen(id)); /* a number */
    if (i == l->n)
        i = find_raw(l, "name", raw.text, raw.len);
    if (i == l->n)
        return false;
    *ret = (struct iovec){(void *)(shared_text_bytes(l->text) + l->elements[i].at), l->elements[i].len};
    return true;
}

/* "7~"vm-12"": the element behind the one with this id, and where it is gone, behind the seventh. */
static int find_cursor(const struct list_text *l, const char *cursor, size_t *ret)
{
    char *end = NULL;
    unsigned long long n;

    if (*cursor < '0' || *cursor > '9' || strlen(cursor) >= LIST_TEXT_CURSOR_SIZE)
        return -EINVAL;
    errno = 0;
    n = strtoull(cursor, &end, 10);
    if (errno != 0 || *end != '~')
        return -EINVAL;
    size_t len = strlen(end + 1);
    size_t i = len > 0 ? find_raw(l, "id", end + 1, len) : l->n;

    *ret = i < l->n ? i + 1 : n < l->n ? (size_t)n : l->n;
    return 0;
}

int list_text_page(struct list_text *l, const char *cursor, size_t limit, struct iovec ret[3],
                   char ret_more[LIST_TEXT_CURSOR_SIZE])
{
    const char *text = shared_text_bytes(l->text);
    size_t first = 0;
    int r;

    ret_more[0] = '\0';
    find_elements(l);
    if (cursor && (r = find_cursor(l, cursor, &first)) < 0)
        return r;
    if (l->n == 0) {
        ret[0] = (struct iovec){(void *)text, shared_text_length(l->text)};
        ret[1] = ret[2] = (struct iovec){(void *)text, 0};
        return 0;
    }
    const size_t last = l->n - first <= limit ? l->n : first + limit;
    const struct element *end = &l->elements[l->n - 1];

    ret[0] = (struct iovec){(void *)text, l->elements[0].at};
    ret[1] = (struct iovec){(void *)text, 0};
    if (last > first)
        ret[1] = (struct iovec){(void *)(text + l->elements[first].at),
                                l->elements[last - 1].at + l->elements[last - 1].len - l->elements[first].at};
    ret[2] =
        (struct iovec){(void *)(text + end->at + end->len), shared_text_length(l->text) - end->at - end->len};
    if (last == l->n)
        return 0;
    const struct iovec id = id_of(l, last - 1, "id");
    int len =
        snprintf(ret_more, LIST_TEXT_CURSOR_SIZE, "%zu~%.*s", last, (int)id.iov_len, (char *)id.iov_base);

    if (len >= LIST_TEXT_CURSOR_SIZE)
        (void)snprintf(ret_more, LIST_TEXT_CURSOR_SIZE, "%zu~", last);
    return 0;
}

struct iovec list_text_value(struct list_text *l, const char *member)
{
    const char *at = find_member(shared_text_bytes(l->text), member);

    return at ? (struct iovec){(void *)at, (size_t)(skip_value(at) - at)} : (struct iovec){0};
}

struct shared_text *list_text_member(struct list_text *l)
{
    (void)pthread_mutex_lock(&l->lock);
    if (!l->decoded) {
        json_error_t where;
        CLEANUP(json_decrefp)
        json_t *root = json_loadb(shared_text_bytes(l->text), shared_text_length(l->text), 0, &where);
        const json_t *member = json_object_get(root, l->member);

        if (json_is_string(member)) {
            CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;

            strbuf_add(&text, json_string_value(member), json_string_length(member));
            l->decoded = shared_text_new(&text);
        }
    }
    (void)pthread_mutex_unlock(&l->lock);
    return l->decoded;
}
