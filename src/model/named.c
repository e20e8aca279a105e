/* named.c: a host or a VM by its id or its name. */
#include "model/named.h"

#include "base/xalloc.h"
#include "schema/suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* names: of all objects; released. */
static int refuse(const char *object, const char *word, const char **names, size_t n, struct err *err)
{
    const char *near = suggest(word, names, n);
    int r = near ? err_set(err, -EINVAL, "no %s has the id or name \"%s\", did you mean \"%s\"?", object,
                           word, near)
                 : err_set(err, -EINVAL, "no %s has the id or name \"%s\", expected one of the snapshot",
                           object, word);

    free(names);
    return r;
}

int named_host(const struct snapshot *s, const char *word, uint32_t *ret_host, struct err *err)
{
    uint32_t found = snapshot_find_host(s, word);
    bool by_id = found != IX_NONE;

    for (uint32_t i = 0; !by_id && i < s->n_hosts; i++) {
        if (!s->hosts[i].is.name || strcmp(s->hosts[i].is.name, word) != 0)
            continue;
        if (found != IX_NONE)
            return err_set(err, -EINVAL,
                           "several hosts have the name \"%s\", expected an id, such as %s or %s", word,
                           s->hosts[found].is.id, s->hosts[i].is.id);
        found = i;
    }
    if (found == IX_NONE) {
        const char **names = xcalloc(s->n_hosts + 1, sizeof *names);

        for (uint32_t i = 0; i < s->n_hosts; i++)
            names[i] = s->hosts[i].is.name ? s->hosts[i].is.name : s->hosts[i].is.id;
        return refuse("host", word, names, s->n_hosts, err);
    }
    *ret_host = found;
    return 0;
}

int named_vm(const struct snapshot *s, const char *word, uint32_t *ret_vm, struct err *err)
{
    uint32_t found = snapshot_find_vm(s, word);
    bool by_id = found != IX_NONE;

    for (uint32_t i = 0; !by_id && i < s->n_vms; i++) {
        if (!s->vms[i].is.name || strcmp(s->vms[i].is.name, word) != 0)
            continue;
        if (found != IX_NONE)
            return err_set(err, -EINVAL, "several VMs have the name \"%s\", expected an id, such as %s or %s",
                           word, s->vms[found].is.id, s->vms[i].is.id);
        found = i;
    }
    if (found == IX_NONE) {
        const char **names = xcalloc(s->n_vms + 1, sizeof *names);

        for (uint32_t i = 0; i < s->n_vms; i++)
            names[i] = s->vms[i].is.name ? s->vms[i].is.name : s->vms[i].is.id;
        return refuse("VM", word, names, s->n_vms, err);
    }
    *ret_vm = found;
    return 0;
}
