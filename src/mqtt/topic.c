/* topic.c: builds topics and escapes names into single levels. */
#include "mqtt/topic.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HASH_LEN 17 /* ~ and sixteen digits */

static bool stays(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
}

/* FNV-1a. */
static uint64_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x100000001b3u;
    return h;
}

static size_t encoded_len(const char *name)
{
    size_t n = 0;

    for (const char *c = name; *c; c++)
        n += stays((unsigned char)*c) ? 1 : 3;
    return n;
}

void topic_level(const char *name, struct strbuf *out)
{
    bool cut = encoded_len(name) > TOPIC_LEVEL_MAX;
    size_t room = cut ? TOPIC_LEVEL_MAX - HASH_LEN : TOPIC_LEVEL_MAX;

    for (const char *c = name; *c; c++) {
        size_t len = stays((unsigned char)*c) ? 1 : 3;

        if (len > room)
            break;
        room -= len;
        if (len == 1)
            strbuf_add(out, c, 1);
        else
            strbuf_printf(out, "%%%02X", (unsigned char)*c);
    }
    if (cut)
        strbuf_printf(out, "~%016" PRIx64, hash(name));
}

static void put_cluster_level(const struct topics *t, struct strbuf *out)
{
    strbuf_printf(out, "%s/", t->prefix);
    topic_level(t->cluster, out);
}

void topic_event(const struct topics *t, const char *kind, struct strbuf *out)
{
    put_cluster_level(t, out);
    strbuf_puts(out, "/events/");
    topic_level(kind, out);
}

void topic_cluster(const struct topics *t, struct strbuf *out)
{
    put_cluster_level(t, out);
    strbuf_puts(out, "/state");
}

void topic_host(const struct topics *t, const char *host, struct strbuf *out)
{
    put_cluster_level(t, out);
    strbuf_puts(out, "/hosts/");
    topic_level(host, out);
    strbuf_puts(out, "/state");
}

void topic_online(const struct topics *t, struct strbuf *out)
{
    put_cluster_level(t, out);
    strbuf_puts(out, "/online");
}

void topic_check(const struct topics *t, struct strbuf *out)
{
    put_cluster_level(t, out);
    strbuf_puts(out, "/" TOPIC_CHECK);
}
