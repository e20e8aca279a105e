/* named.c: a host or a VM by its id or its name. */
#include "model/named.h"

#include "base/xalloc.h"
#include "schema/suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OFF_VMS_NAMED 10

/* names: of all objects; released. */
static int refuse(const char *object, const char *word, const char **names, size_t n, struct err *err)
{
    const char *near = suggest(word, names, n);
    int r = near ? err_set(err, -EINVAL, "no %s has the id or name \"%s\", did you mean \"%s\"?", object,
                           word, near)
                 : err_set(err, -EINVAL, "no %s has the id or name \"%s\"", object, word);

    free(names);
    return r;
}

/* How a host is called by a word, and by how much of its name. */
static bool has_name(const char *name, const char *word, bool whole)
{
    size_t n = strlen(word);

    return name && strncmp(name, word, n) == 0 && (name[n] == '\0' || (!whole && n > 0 && name[n] == '.'));
}

static int find_host_by_name(const struct snapshot *s, const char *word, bool whole, uint32_t *ret,
                             struct err *err)
{
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        if (!has_name(s->hosts[i].is.name, word, whole))
            continue;
        if (*ret != IX_NONE)
            return err_set(err, -EINVAL,
                           "several hosts have the name \"%s\", expected an id, such as %s or %s", word,
                           s->hosts[*ret].is.id, s->hosts[i].is.id);
        *ret = i;
    }
    return 0;
}

int named_host(const struct snapshot *s, const char *word, uint32_t *ret_host, struct err *err)
{
    uint32_t found = snapshot_find_host(s, word);
    int r = 0;

    if (found == IX_NONE)
        r = find_host_by_name(s, word, true, &found, err);
    if (r == 0 && found == IX_NONE)
        r = find_host_by_name(s, word, false, &found, err);
    if (r < 0)
        return r;
    if (found == IX_NONE) {
        const char **names = xcalloc(s->n_hosts + 1, sizeof *names);

        for (uint32_t i = 0; i < s->n_hosts; i++)
            names[i] = s->hosts[i].is.name ? s->hosts[i].is.name : s->hosts[i].is.id;
        return refuse("host", word, names, s->n_hosts, err);
    }
    *ret_host = found;
    return 0;
}

/* How much of the ends of both is the same. */
static size_t common_end(const char *a, const char *b)
{
    size_t n = strlen(a);
    size_t m = strlen(b);
    size_t same = 0;

    while (same < n && same < m && a[n - 1 - same] == b[m - 1 - same])
        same++;
    return same;
}

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

const char *named_host_domain(const struct snapshot *s)
{
    const char *first = s->n_hosts > 0 ? s->hosts[0].is.name : NULL;
    size_t same = first ? strlen(first) : 0;

    for (uint32_t i = 0; first && i < s->n_hosts; i++) {
        const char *name = s->hosts[i].is.name ? s->hosts[i].is.name : "";
        size_t most = strlen(name) > 0 ? strlen(name) - 1 : 0; /* a name may not become empty */
        size_t n = common_end(first, name);
        n = n < most ? n : most;
        same = n < same ? n : same;
    }
    const char *domain = first && s->n_hosts > 1 ? strchr(first + strlen(first) - same, '.') : NULL;
    return !domain || is_number(strrchr(domain, '.') + 1) ? "" : domain;
}

static const char *label(const char *name, const char *id, bool unique, struct arena *a)
{
    return unique ? name : arena_printf(a, "%s (%s)", name, id);
}

static bool host_name_is_unique(const struct snapshot *s, uint32_t ix)
{
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        if (i != ix && strcmp(s->hosts[i].is.name, s->hosts[ix].is.name) == 0)
            return false;
    }
    return true;
}

const char *named_host_word(const struct snapshot *s, uint32_t host)
{
    return host_name_is_unique(s, host) ? s->hosts[host].is.name : s->hosts[host].is.id;
}

const char *named_host_label(const struct snapshot *s, const char *id, struct arena *a)
{
    uint32_t ix = s && id ? snapshot_find_host(s, id) : IX_NONE;

    return ix == IX_NONE ? id : label(s->hosts[ix].is.name, id, host_name_is_unique(s, ix), a);
}

const char *named_vm_label(const struct snapshot *s, const char *id, struct arena *a)
{
    uint32_t ix = s && id ? snapshot_find_vm(s, id) : IX_NONE;
    bool unique = true;

    if (ix == IX_NONE)
        return id;
    for (uint32_t i = 0; i < s->n_vms && unique; i++)
        unique = i == ix || strcmp(s->vms[i].is.name, s->vms[ix].is.name) != 0;
    return label(s->vms[ix].is.name, id, unique, a);
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

const char *named_off_vms(const struct snapshot *s, uint32_t host, const bool *without, uint32_t *ret_n,
                          struct arena *a)
{
    const char *names = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];

        if (v->host != host || v->is.state == VM_ON || v->is.kind == VM_AGENT || (without && without[i]) ||
            ++n > OFF_VMS_NAMED)
            continue;
        names = names ? arena_printf(a, "%s, %s", names, v->is.name) : v->is.name;
    }
    *ret_n = n;
    return n > OFF_VMS_NAMED ? arena_printf(a, "%s and %u more", names, n - OFF_VMS_NAMED) : names;
}
