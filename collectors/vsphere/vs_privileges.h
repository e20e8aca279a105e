/* vs_privileges.h: the privileges that the collector and the actuator of a vCenter need, and which of them
 * the user has.
 *
 * Source: vSphere Web Services API reference 6.5 to 8.0, "Required Privileges" of each method and property;
 * vSphere Security 8.0, "Defined Privileges". */
#ifndef BALLAST_COLLECTORS_VSPHERE_PRIVILEGES_H
#define BALLAST_COLLECTORS_VSPHERE_PRIVILEGES_H

#include "base/idmap.h"
#include "net/vsphere/session.h"

#include <ballast/arena.h>

/* On which objects a privilege is needed. */
#define ON_CLUSTER (1u << 0)
#define ON_HOSTS (1u << 1)
#define ON_VMS (1u << 2)

struct vs_privilege {
    const char *id;      /* "Resource.HotMigrate" */
    const char *label;   /* in the vSphere Client: "Resource > Migrate powered on virtual machine" */
    unsigned on;         /* ON_* */
    unsigned operations; /* 1u << OPERATION_* that it is for; 0: reading, which everything needs */
    bool optional;       /* the operations work without it */
    const char *purpose; /* "migrations" */
    const char *methods; /* of the API, that it is for */
};

extern const struct vs_privilege vs_privileges[];
extern const size_t vs_privileges_count;

/* An object of the vCenter. */
struct vs_entity {
    const char *type, *id; /* "VirtualMachine", "vm-12" */
    const char *name;
    unsigned on; /* its ON_* */
};

/* Asks which privileges of the table the session lacks. ret_missing[i] has a bit for each privilege (by its
 * index in the table) that is missing on entities[i]. Errors of vsphere_call(). */
int vs_privileges_ask(struct vsphere *v, const struct vs_entity *entities, size_t n, uint32_t *ret_missing,
                      struct err *err);

/* Reads an answer (HasPrivilegeOnEntitiesResponse), which is untrusted: adds to `granted`, for each object,
 * an arena's uint32_t with the bits of the privileges that it has. -EPROTO. */
int vs_privileges_read(const xml_node *payload, struct arena *a, struct idmap *granted, struct err *err);

#endif
