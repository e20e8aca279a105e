/* peer_identities.c: keeps one text for each peer, and compares. */
#include "base/peer_identities.h"

#include "base/idmap.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEER_MAX 256

struct peer_identities {
    pthread_mutex_t lock;
    struct idmap known; /* peer -> text */
    char *name;         /* NULL: none */
    bool changed;
    bool refused; /* a peer, since the last peer_identities_forget() */
};

/* A line for each peer: its name, a tab, its text. */
struct peer_identities *peer_identities_new(const char *text)
{
    struct peer_identities *p = xcalloc(1, sizeof *p);

    (void)pthread_mutex_init(&p->lock, NULL);
    for (const char *line = text; line && *line; line += line[0] == '\n') {
        const size_t len = strcspn(line, "\n"), name = strcspn(line, "\t\n");
        char peer[PEER_MAX];

        if (name < len && name < sizeof peer) {
            (void)snprintf(peer, sizeof peer, "%.*s", (int)name, line);
            char *is = xcalloc(len - name, 1);

            memcpy(is, line + name + 1, len - name - 1);
            *idmap_slot(&p->known, peer) = is;
        }
        line += len;
    }
    return p;
}

void peer_identities_free(struct peer_identities *p)
{
    if (!p)
        return;
    idmap_release(&p->known, free);
    free(p->name);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

static bool has_word(const char *text, const char *word, size_t len)
{
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        if ((at == text || at[-1] == ' ') && (at[len] == '\0' || at[len] == ' '))
            return true;
    }
    return false;
}

static bool shares_word(const char *a, const char *b)
{
    char word[256];

    for (const char *at = a; *at; at += strspn(at, " ")) {
        const size_t len = strcspn(at, " ");

        if (len < sizeof word) {
            (void)snprintf(word, sizeof word, "%.*s", (int)len, at);
            if (has_word(b, word, len))
                return true;
        }
        at += len;
    }
    return false;
}

int peer_identities_check(struct peer_identities *p, const char *peer, const char *is, struct err *err)
{
    int r = 0;

    if (!p || !is[0])
        return 0;
    (void)pthread_mutex_lock(&p->lock);
    const char *was = idmap_get(&p->known, peer);

    if (was && !shares_word(is, was)) {
        r = err_set(
            err, -EKEYREJECTED,
            "%.100s is another one than before: it was %.150s, and is %.150s now, so nothing is asked of "
            "it; if it is the right one: `ballast confirm-setting source`",
            peer, was, is);
        p->refused = true;
    } else if (!was || strcmp(is, was) != 0) {
        void **slot = idmap_slot(&p->known, peer);

        free(*slot);
        *slot = xstrdup(is);
        p->changed = true;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return r;
}

void peer_identities_offer_name(struct peer_identities *p, const char *name)
{
    if (!p || !name[0])
        return;
    (void)pthread_mutex_lock(&p->lock);
    if (!p->name || strcmp(name, p->name) < 0)
        xstrset(&p->name, name);
    (void)pthread_mutex_unlock(&p->lock);
}

void peer_identities_name(struct peer_identities *p, char *ret, size_t size)
{
    (void)pthread_mutex_lock(&p->lock);
    (void)snprintf(ret, size, "%s", p->name ? p->name : "");
    (void)pthread_mutex_unlock(&p->lock);
}

static bool write_line(const char *peer, void *value, void *ctx)
{
    strbuf_printf(ctx, "%s\t%s\n", peer, (const char *)value);
    return true;
}

char *peer_identities_write(struct peer_identities *p)
{
    struct strbuf text = {0};

    (void)pthread_mutex_lock(&p->lock);
    if (p->changed) {
        strbuf_init(&text, STRBUF_NO_LIMIT);
        idmap_keep(&p->known, write_line, &text);
    }
    p->changed = false;
    (void)pthread_mutex_unlock(&p->lock);
    return text.text;
}

static bool drop(const char *peer, void *value, void *ctx)
{
    (void)peer, (void)ctx;
    free(value);
    return false;
}

bool peer_identities_forget(struct peer_identities *p)
{
    (void)pthread_mutex_lock(&p->lock);
    const bool refused = p->refused;

    if (refused)
        idmap_keep(&p->known, drop, NULL);
    p->changed = p->changed || refused;
    p->refused = false;
    (void)pthread_mutex_unlock(&p->lock);
    return refused;
}
