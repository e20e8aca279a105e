/* subject.c: finds the VM, host or pool that a filter names, in the inventory or in the store. */
#include "daemon/events/subject.h"

#include "base/cleanup.h"
#include "model/named.h"
#include "store/history.h"

#include <errno.h>
#include <string.h>

/* The id in the inventory. -EINVAL: not there. */
static int find_in_inventory(const struct snapshot *s, enum store_subject what, const char *word,
                             const char **ret, struct err *err)
{
    uint32_t ix = IX_NONE;
    struct err why = {0};
    int r = what == STORE_VM ? named_vm(s, word, &ix, &why) : named_host(s, word, &ix, &why);

    if (r < 0)
        return err_set(err, r, "%s; `ballast %s` lists them", why.text, what == STORE_VM ? "vms" : "hosts");
    *ret = what == STORE_VM ? s->vms[ix].is.id : s->hosts[ix].is.id;
    return 0;
}

/* word: a name, replaced by the id. */
static int resolve(const struct engine *e, struct store *store, enum store_subject what,
                   char word[REQUEST_NAME_MAX], struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct snapshot *s = engine_snapshot(e);
    const char *id = NULL;
    int r = -EINVAL;

    if (word[0] == '\0')
        return 0;
    if (s)
        r = find_in_inventory(s, what, word, &id, err);
    else
        (void)err_set(err, -EINVAL,
                      "the cluster has not been read yet, and nothing is stored of the %s \"%s\"",
                      what == STORE_VM ? "VM" : "host", word);
    if (r < 0) {
        struct err kept = *err; /* the better sentence, unless the store knows more */

        r = store_find_subject(store, what, word, &a, &id, err);
        if (r == -ENOENT) {
            *err = kept;
            return -EINVAL;
        }
    }
    if (r == 0 && strlen(id) >= REQUEST_NAME_MAX)
        r = err_set(err, -EINVAL, "the id of \"%s\" is too long to search for", word);
    if (r == 0)
        memcpy(word, id, strlen(id) + 1);
    return r;
}

int subject_refuse(int code, bool in_path, struct err *err)
{
    return err->code = code == -EINVAL && in_path ? -ENOENT : code;
}

/* One that is gone is found by its id. */
static int resolve_pool(const struct engine *e, char word[REQUEST_NAME_MAX], struct err *err)
{
    const struct snapshot *s = engine_snapshot(e);
    uint32_t found = IX_NONE;

    if (word[0] == '\0' || !s || snapshot_find_pool(s, word) != IX_NONE)
        return 0;
    for (uint32_t i = 0; i < s->n_pools; i++) {
        if (!s->pools[i].is.name || strcmp(s->pools[i].is.name, word) != 0)
            continue;
        if (found != IX_NONE)
            return err_set(err, -EINVAL,
                           "several pools have the name \"%s\", expected an id, such as %s or %s", word,
                           s->pools[found].is.id, s->pools[i].is.id);
        found = i;
    }
    if (found != IX_NONE && strlen(s->pools[found].is.id) < REQUEST_NAME_MAX)
        memcpy(word, s->pools[found].is.id, strlen(s->pools[found].is.id) + 1);
    return 0;
}

int subject_resolve(const struct engine *e, struct store *store, struct request *q, struct err *err)
{
    int r;

    if (q->kind != REQUEST_RECOMMENDATIONS && q->kind != REQUEST_HISTORY && q->kind != REQUEST_EVENTS &&
        q->kind != REQUEST_SERIES)
        return 0;
    if ((r = resolve(e, store, STORE_VM, q->vm, err)) < 0)
        return subject_refuse(r, q->vm_in_path, err);
    if ((r = resolve(e, store, STORE_HOST, q->host, err)) < 0)
        return subject_refuse(r, q->host_in_path, err);
    return resolve_pool(e, q->pool, err);
}
