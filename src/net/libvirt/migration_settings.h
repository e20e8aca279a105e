/* migration_settings.h: how a VM is migrated, by `source: migration:` and the entries of `migrations:`. Pure,
 * and without libvirt's library: the configuration is checked with it. */
#ifndef BALLAST_NET_LIBVIRT_MIGRATION_SETTINGS_H
#define BALLAST_NET_LIBVIRT_MIGRATION_SETTINGS_H

#include "net/libvirt/settings.h"

#include <ballast/arena.h>

/* The settings of all VMs, replaced by those of each entry that names the VM, in their order. vm: its UUID.
 */
struct libvirt_migration libvirt_migration_of(const struct libvirt_settings *s, const char *vm,
                                              const char *name);

/* Why two of the settings exclude each other, "excludes connections: ..."; NULL: they do not. *ret_key: the
 * name of the first of the two. */
const char *libvirt_migration_excluded(const struct libvirt_migration *m, const char **ret_key);

/* The same of the whole configuration; *ret_key: below `source:`. */
const char *libvirt_migration_check(const void *settings, struct arena *a, const char **ret_key);

/* Whether disks of some VMs may be copied. */
bool libvirt_migration_copies(const struct libvirt_settings *s);

/* Copies what migrations need of the settings, strings too. */
void libvirt_migration_copy(const struct libvirt_settings *from, struct arena *a,
                            struct libvirt_settings *to);

#endif
