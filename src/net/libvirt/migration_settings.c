/* migration_settings.c: which settings a VM's migration has, and which exclude each other. */
#include "net/libvirt/migration_settings.h"

#include <fnmatch.h>
#include <stddef.h>

static void apply(const struct libvirt_migration_entry *set, struct libvirt_migration *to)
{
    const struct libvirt_migration *is = &set->is;

    to->mode = set->mode_given ? is->mode : to->mode;
    to->tls = set->tls_given ? is->tls : to->tls;
    to->auto_converge = set->auto_converge_given ? is->auto_converge : to->auto_converge;
    to->post_copy = set->post_copy_given ? is->post_copy : to->post_copy;
    to->copy_storage = set->copy_storage_given ? is->copy_storage : to->copy_storage;
    to->bandwidth_mbs = set->bandwidth_mbs_given ? is->bandwidth_mbs : to->bandwidth_mbs;
    to->connections = set->connections_given ? is->connections : to->connections;
    to->timeout_s = set->timeout_s_given ? is->timeout_s : to->timeout_s;
}

static bool is_meant(const struct libvirt_migration_entry *entry, const char *vm, const char *name)
{
    for (const char *const *p = entry->vms; p && *p; p++) {
        if (fnmatch(*p, name, 0) == 0 || fnmatch(*p, vm, 0) == 0)
            return true;
    }
    return false;
}

struct libvirt_migration libvirt_migration_of(const struct libvirt_settings *s, const char *vm,
                                              const char *name)
{
    const struct libvirt_migration_entry *entries = s->migrations.items;
    struct libvirt_migration ret = s->migration;

    for (uint32_t i = 0; i < s->migrations.n; i++) {
        if (is_meant(&entries[i], vm, name))
            apply(&entries[i], &ret);
    }
    return ret;
}

const char *libvirt_migration_excluded(const struct libvirt_migration *m, const char **ret_key)
{
    *ret_key = "post_copy";
    if (m->post_copy && m->connections > 1)
        return "excludes connections above 1: QEMU can do only one of the two";
    if (m->post_copy && m->timeout_s == 0)
        return "needs timeout_s, the time after which it begins, expected at least 1 s";
    if (m->post_copy && m->copy_storage != LIBVIRT_COPY_NO)
        return "excludes copy_storage: timeout_s would end while disks are copied, before any memory is";
    return NULL;
}

const char *libvirt_migration_check(const void *settings, struct arena *a, const char **ret_key)
{
    const struct libvirt_settings *s = settings;
    const struct libvirt_migration_entry *entries = s->migrations.items;
    const char *key = NULL, *why = libvirt_migration_excluded(&s->migration, &key);

    if (why) {
        *ret_key = arena_printf(a, "migration.%s", key);
        return why;
    }
    for (uint32_t i = 0; i < s->migrations.n; i++) {
        struct libvirt_migration of = s->migration;

        apply(&entries[i], &of);
        why = libvirt_migration_excluded(&of, &key);
        if (!why)
            continue;
        *ret_key = arena_printf(a, "migrations.%s.%s", entries[i].name, key);
        return why;
    }
    return NULL;
}

bool libvirt_migration_copies(const struct libvirt_settings *s)
{
    const struct libvirt_migration_entry *entries = s->migrations.items;
    bool any = s->migration.copy_storage != LIBVIRT_COPY_NO;

    for (uint32_t i = 0; i < s->migrations.n; i++)
        any = any || entries[i].is.copy_storage != LIBVIRT_COPY_NO; /* LIBVIRT_COPY_NO is 0: not given */
    return any;
}

void libvirt_migration_copy(const struct libvirt_settings *from, struct arena *a, struct libvirt_settings *to)
{
    const struct libvirt_migration_entry *entries = from->migrations.items;
    struct libvirt_migration_entry *own = arena_array(a, struct libvirt_migration_entry, from->migrations.n);

    for (uint32_t i = 0; i < from->migrations.n; i++) {
        own[i] = entries[i];
        own[i].name = arena_strdup(a, entries[i].name);
        own[i].vms = arena_list(a, entries[i].vms);
    }
    *to = (struct libvirt_settings){.shared_paths = arena_list(a, from->shared_paths),
                                    .migration = from->migration,
                                    .migrations = {.items = own, .n = from->migrations.n}};
}
