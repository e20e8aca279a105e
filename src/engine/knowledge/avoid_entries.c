/* avoid_entries.c: the entries by subject and place, as memory and as rows of the store. */
#include "engine/knowledge/avoid_entries.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static char *own(const char *text)
{
    return xstrdup(text ? text : "");
}

void avoid_entry_free(void *value)
{
    struct avoid_entry *x = value;

    if (!x)
        return;
    free((void *)(uintptr_t)x->r.vm);
    free((void *)(uintptr_t)x->r.host);
    free((void *)(uintptr_t)x->r.from);
    free((void *)(uintptr_t)x->r.reason);
    free(x);
}

/* Ids hold no newline. */
static char *key_of(const char *vm, const char *host)
{
    size_t n = strlen(vm);
    char *key = xcalloc(n + strlen(host) + 2, 1);

    memcpy(key, vm, n);
    key[n] = '\n';
    memcpy(key + n + 1, host, strlen(host));
    return key;
}

static struct avoid_entry *find_any(const struct failed_moves *f, const char *vm, const char *host)
{
    char *key = key_of(vm, host);
    struct avoid_entry *x = idmap_get(&f->entries.of, key);

    free(key);
    return x;
}

struct avoid_entry *avoid_entry_find(const struct failed_moves *f, const char *vm, const char *host)
{
    struct avoid_entry *x = find_any(f, vm, host);

    return x && !x->known.gone ? x : NULL;
}

/* Found or made; the caller changes it. */
struct avoid_entry *avoid_entry_make(struct failed_moves *f, const char *vm, const char *host)
{
    struct avoid_entry *x = find_any(f, vm, host);

    if (!x) {
        char *key = key_of(vm, host);

        x = xcalloc(1, sizeof *x);
        x->r.vm = own(vm);
        x->r.host = own(host);
        *idmap_slot(&f->entries.of, key) = x;
        free(key);
    } else if (x->known.gone) {
        xalloc_set_text(&x->r.from, NULL);
        xalloc_set_text(&x->r.reason, NULL);
        x->r = (struct failure_record){.vm = x->r.vm, .host = x->r.host};
        x->known.gone = false;
    }
    knowledge_touch(&f->entries, &x->known);
    return x;
}

void avoid_entry_drop(struct failed_moves *f, struct avoid_entry *x)
{
    if (!x || x->known.gone)
        return;
    x->known.gone = true;
    knowledge_touch(&f->entries, &x->known);
}

/* An instant in the future tells of a clock that was set back: its age is unknown, and it holds nothing. */
bool avoid_entry_holds(const struct failure_record *r, instant_s now)
{
    return r->failed <= now && now < r->until;
}

/* ---- as a piece of knowledge ---- */

int avoid_entry_persist(const char *key, const void *entry, const struct store_ops *ops, struct store *s,
                        struct err *err)
{
    const struct avoid_entry *x = entry;
    const struct record record = {RECORD_FAILURE, .failure = &x->r};

    (void)key;
    return x->known.gone ? ops->forget(s, &record, err) : ops->put(s, &record, err);
}

void avoid_entries_recall(void *piece, const struct stored *s, instant_s now)
{
    struct failed_moves *f = piece;

    for (size_t i = 0; i < s->n_failures; i++) {
        const struct failure_record *r = &s->failures[i];

        if (!r->vm || !r->host) /* what stands in a file may have been written by anybody */
            continue;
        struct avoid_entry *x = avoid_entry_make(f, r->vm, r->host);
        const struct failure_record own_of = x->r;

        x->r = *r;
        x->r.vm = own_of.vm;
        x->r.host = own_of.host;
        x->r.from = r->from ? xstrdup(r->from) : NULL;
        x->r.reason = r->reason ? xstrdup(r->reason) : NULL;
        if (x->r.failed > now) { /* the clock was set back: it is avoided as long as before, and no longer */
            x->r.until = x->r.until > x->r.failed ? now + (x->r.until - x->r.failed) : 0;
            x->r.failed = now;
        }
        x->known.dirty = false;
    }
    f->entries.dirty = false;
}
