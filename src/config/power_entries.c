/* power_entries.c: compares the entries of `power.hosts` with the hosts of a cluster. */
#include "config/power_entries.h"

#include <string.h>

/* Counts the hosts with that name; ret: the last of them. */
static uint32_t count_named(const struct snapshot *s, const char *name, uint32_t *ret_ix)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_hosts; i++) {
        if (!s->hosts[i].is.name || strcmp(s->hosts[i].is.name, name) != 0)
            continue;
        *ret_ix = i;
        n++;
    }
    return n;
}

static bool has_entry(const struct power_host *entries, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(entries[i].name, name) == 0)
            return true;
    }
    return false;
}

struct entry_match power_entries_match(const struct power_host *entries, size_t n, const struct snapshot *s,
                                       const char *name)
{
    struct entry_match m = {.use = ENTRY_USED, .host = snapshot_find_host(s, name)};

    if (m.host != IX_NONE)
        return m;
    m.named = count_named(s, name, &m.host);
    if (m.named != 1)
        m.use = m.named == 0 ? ENTRY_UNKNOWN : ENTRY_NOT_CLEAR;
    else if (has_entry(entries, n, s->hosts[m.host].is.id))
        m.use = ENTRY_TWICE;
    return m;
}

const char *power_entries_host_name(const struct snapshot *s, const char *id)
{
    uint32_t ix = s && id ? snapshot_find_host(s, id) : IX_NONE;
    const char *name = ix == IX_NONE ? NULL : s->hosts[ix].is.name;
    uint32_t same = IX_NONE;

    /* a name equal to another host's id would be taken for that host */
    return name && snapshot_find_host(s, name) == IX_NONE && count_named(s, name, &same) == 1 ? name : NULL;
}

const struct power_host *power_entries_find(const struct power_host *entries, size_t n,
                                            const struct snapshot *s, const char *id)
{
    const char *name = power_entries_host_name(s, id);
    const struct power_host *by_name = NULL;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(entries[i].name, id) == 0)
            return &entries[i];
        if (name && strcmp(entries[i].name, name) == 0)
            by_name = &entries[i];
    }
    return by_name;
}
