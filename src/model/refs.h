/* refs.h: an index of a snapshot as an id for programs, or as a name for people; NULL for none. */
#ifndef BALLAST_MODEL_REFS_H
#define BALLAST_MODEL_REFS_H

#include <ballast/snapshot.h>

#include <stddef.h>

static inline const char *ref_host_id(const struct snapshot *s, uint32_t ix)
{
    return ix == IX_NONE ? NULL : s->hosts[ix].is.id;
}

static inline const char *ref_vm_id(const struct snapshot *s, uint32_t ix)
{
    return ix == IX_NONE ? NULL : s->vms[ix].is.id;
}

static inline const char *ref_pool_id(const struct snapshot *s, uint32_t ix)
{
    return ix == IX_NONE ? NULL : s->pools[ix].is.id;
}

static inline const char *ref_rule_id(const struct snapshot *s, uint32_t ix)
{
    return ix == IX_NONE ? NULL : s->rules[ix].is.id;
}

static inline const char *ref_host_name(const struct snapshot *s, uint32_t ix)
{
    return ix == IX_NONE ? NULL : s->hosts[ix].is.name;
}

static inline const char *ref_vm_name(const struct snapshot *s, uint32_t ix)
{
    return ix == IX_NONE ? NULL : s->vms[ix].is.name;
}

static inline const char *ref_pool_name(const struct snapshot *s, uint32_t ix)
{
    return ix == IX_NONE ? NULL : s->pools[ix].is.name;
}

#endif
