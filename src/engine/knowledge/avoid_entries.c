/* avoid_entries.c: the entries by subject and place, as memory and as rows of the store. */
#include "engine/knowledge/avoid_entries.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static char *own(const char *text)
{
    return xstrdup(text ? text : "");
}

void avoid_entry_set_text(const char **at, const char *text)
{
    char *old = (char *)(uintptr_t)*at;

    *at = text ? xstrdup(text) : NULL;
    free(old);
}

static void entry_free(void *value)
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
    struct avoid_entry *x = idmap_get(&f->entries, key);

    free(key);
    return x;
}

struct avoid_entry *avoid_entry_find(const struct failed_moves *f, const char *vm, const char *host)
{
    struct avoid_entry *x = find_any(f, vm, host);

    return x && !x->gone ? x : NULL;
}

void avoid_entry_touch(struct failed_moves *f, struct avoid_entry *x)
{
    x->dirty = true;
    f->dirty = true;
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
        *idmap_slot(&f->entries, key) = x;
        free(key);
    } else if (x->gone) {
        avoid_entry_set_text(&x->r.from, NULL);
        avoid_entry_set_text(&x->r.reason, NULL);
        x->r = (struct failure_record){.vm = x->r.vm, .host = x->r.host};
        x->gone = false;
    }
    avoid_entry_touch(f, x);
    return x;
}

void avoid_entry_drop(struct failed_moves *f, struct avoid_entry *x)
{
    if (!x || x->gone)
        return;
    x->gone = true;
    avoid_entry_touch(f, x);
}

/* An instant in the future tells of a clock that was set back: its age is unknown, and it holds nothing. */
bool avoid_entry_holds(const struct failure_record *r, instant_s now)
{
    return r->failed <= now && now < r->until;
}

/* ---- as a piece of knowledge ---- */

void *avoid_entries_create(void)
{
    return xcalloc(1, sizeof(struct failed_moves));
}

void avoid_entries_release(void *piece)
{
    struct failed_moves *f = piece;

    idmap_release(&f->entries, entry_free);
    free(f);
}

bool avoid_entries_is_dirty(const void *piece)
{
    return ((const struct failed_moves *)piece)->dirty;
}

int avoid_entries_persist(const void *piece, const struct store_ops *ops, struct store *s, struct err *err)
{
    const struct failed_moves *f = piece;
    int r = 0;

    for (size_t i = 0; r == 0 && i < f->entries.cap; i++) {
        const struct avoid_entry *x = f->entries.entries[i].value;

        if (!x || !x->dirty)
            continue;
        const struct record record = {RECORD_FAILURE, .failure = &x->r};

        r = x->gone ? ops->forget(s, &record, err) : ops->put(s, &record, err);
    }
    return r;
}

static bool is_kept(const char *key, void *value, void *ctx)
{
    struct avoid_entry *x = value;

    (void)key, (void)ctx;
    x->dirty = false;
    if (!x->gone)
        return true;
    entry_free(x);
    return false;
}

void avoid_entries_stored(void *piece)
{
    struct failed_moves *f = piece;

    idmap_keep(&f->entries, is_kept, NULL);
    f->dirty = false;
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
        x->dirty = false;
    }
    f->dirty = false;
}
