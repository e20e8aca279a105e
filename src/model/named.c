/* named.c: a host or a VM by its id or its name. */
#include "model/named.h"

#include <errno.h>
#include <string.h>

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
    if (found == IX_NONE)
        return err_set(err, -EINVAL, "no host has the id or name \"%s\", expected one of the snapshot", word);
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
    if (found == IX_NONE)
        return err_set(err, -EINVAL, "no VM has the id or name \"%s\", expected one of the snapshot", word);
    *ret_vm = found;
    return 0;
}
