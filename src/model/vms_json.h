/* vms_json.h: VMs to be powered on, read from a file, and the cluster with these VMs.
 *
 * The file is a JSON array of VM objects as in ballast-snapshot/1, without host. An id of a VM that is off or
 * suspended in the snapshot means that VM, and its other fields are ignored. Any other id is a new VM, which
 * is added in state off. Usage in the file is ignored: a placement assumes that a VM uses its full size.
 */
#ifndef BALLAST_MODEL_VMS_JSON_H
#define BALLAST_MODEL_VMS_JSON_H

#include "model/snapshot_json.h"

/* Fields that are ignored, each reported once. */
enum vms_ignored {
    VMS_IGNORED_KNOWN,  /* fields of a VM that the snapshot has */
    VMS_IGNORED_STATE,  /* a state other than off */
    VMS_IGNORED_DEMAND, /* usage */
    VMS_IGNORED_COUNT,
};

struct vms_to_place {
    struct snapshot snap; /* the cluster, and the new VMs in it */
    uint32_t *vms;        /* indices into snap.vms, in the file's order */
    uint32_t n;
    struct {
        size_t first, n; /* the first object with such a field, and the number of such objects */
    } ignored[VMS_IGNORED_COUNT];
};

/* cluster must live as long as the result. -EINVAL with "JSON-pointer: what is wrong, what was expected":
 * every error of a VM of a snapshot; a VM that runs or is listed twice; a VM with a host; one VM of a
 * fault-tolerant pair without the other. unknown may be NULL. */
int vms_read(const char *text, size_t len, const struct snapshot *cluster, struct arena *a,
             struct vms_to_place *ret, struct unknown_fields *unknown, struct err *err);

/* Reads the file, or standard input for "-"; errors as in snapshot_load(). */
int vms_json_load(const char *path, const struct snapshot *cluster, struct arena *a, struct vms_to_place *ret,
                  struct unknown_fields *unknown, struct err *err);

/* The warning about the ignored fields; NULL: there are none. */
const char *vms_json_ignored_text(const struct vms_to_place *v, enum vms_ignored what, struct arena *a);

#endif
