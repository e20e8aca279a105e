/* power_entries.h: the host of the cluster that an entry of `power.hosts` is for: the one with that id, else
 * the only one with that name. */
#ifndef BALLAST_CONFIG_POWER_ENTRIES_H
#define BALLAST_CONFIG_POWER_ENTRIES_H

#include <ballast/power.h>
#include <ballast/snapshot.h>

/* The match of an entry in the cluster: no host, several hosts, or a host that has another entry. */
enum entry_use { ENTRY_NOT_COMPARED, ENTRY_USED, ENTRY_UNKNOWN, ENTRY_NOT_CLEAR, ENTRY_TWICE };

struct entry_match {
    enum entry_use use;
    uint32_t host;  /* its index; IX_NONE: none */
    uint32_t named; /* hosts of that name */
};

/* The match of the entry of this name among all entries. */
struct entry_match power_entries_match(const struct power_host *entries, size_t n, const struct snapshot *s,
                                       const char *name);

/* The entry of the host with this id; NULL: none. */
const struct power_host *power_entries_find(const struct power_host *entries, size_t n,
                                            const struct snapshot *s, const char *id);

/* The host's name if it is unique, else NULL. s may be NULL. */
const char *power_entries_host_name(const struct snapshot *s, const char *id);

#endif
