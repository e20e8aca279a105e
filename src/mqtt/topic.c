/* topic.c: builds topics and escapes names into single levels. */
#include "mqtt/topic.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HASH_DIGITS 16

/* How names become a part of a topic. */
struct escape {
    const char *stay; /* beside letters and digits */
    char sign;        /* before two digits, for each other byte */
    const char *cut;  /* before the hash */
    size_t most;
};

static const struct escape level = {"-._", '%', "~", TOPIC_LEVEL_MAX};
static const struct escape word = {"-", '_', "___", TOPIC_WORD_MAX};

static bool stays(const struct escape *e, char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr(e->stay, c);
}

/* FNV-1a. */
static uint64_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x100000001b3u;
    return h;
}

static size_t escaped_len(const struct escape *e, const char *name)
{
    size_t n = 0;

    for (const char *c = name; *c; c++)
        n += stays(e, *c) ? 1 : 3;
    return n;
}

static void put_escaped(const struct escape *e, const char *name, struct strbuf *out)
{
    bool cut = escaped_len(e, name) > e->most;
    size_t room = cut ? e->most - strlen(e->cut) - HASH_DIGITS : e->most;

    for (const char *c = name; *c; c++) {
        size_t len = stays(e, *c) ? 1 : 3;

        if (len > room)
            break;
        room -= len;
        if (len == 1)
            strbuf_add(out, c, 1);
        else
            strbuf_printf(out, "%c%02X", e->sign, (unsigned char)*c);
    }
    if (cut)
        strbuf_printf(out, "%s%016" PRIx64, e->cut, hash(name));
}

void topic_level(const char *name, struct strbuf *out)
{
    put_escaped(&level, name, out);
}

void topic_word(const char *name, struct strbuf *out)
{
    put_escaped(&word, name, out);
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

void topic_commands(const struct topics *t, struct strbuf *out)
{
    put_cluster_level(t, out);
    strbuf_puts(out, "/cmd");
}

void topic_reply(const struct topics *t, struct strbuf *out)
{
    put_cluster_level(t, out);
    strbuf_puts(out, "/reply");
}

void topic_check(const struct topics *t, struct strbuf *out)
{
    put_cluster_level(t, out);
    strbuf_puts(out, "/" TOPIC_CHECK);
}
