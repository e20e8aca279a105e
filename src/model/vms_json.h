/* vms_json.h: VMs that are to be powered on, from a file, and the cluster with them.
 *
 * The file is a JSON array of VM objects as in ballast-snapshot/1, without host. An id that the snapshot has,
 * off or suspended, means that VM, and the id is all that is read of it. Any other is a new VM: it is added
 * as one that is off. What it may be told to use is not believed: placing takes a VM to use all it can.
 */
#ifndef BALLAST_MODEL_VMS_JSON_H
#define BALLAST_MODEL_VMS_JSON_H

#include "model/snapshot_json.h"

/* Things that are passed over, each said once. */
enum vms_ignored {
    VMS_IGNORED_KNOWN,  /* what is said of a VM of the snapshot */
    VMS_IGNORED_STATE,  /* a state other than off */
    VMS_IGNORED_DEMAND, /* what it uses */
    VMS_IGNORED_COUNT,
};

struct vms_to_place {
    struct snapshot snap; /* the cluster, and the new VMs in it */
    uint32_t *vms;        /* indices into snap.vms, in the file's order */
    uint32_t n;
    struct {
        size_t first, n; /* the first object that it is so in, and in how many */
    } ignored[VMS_IGNORED_COUNT];
};

/* cluster must live as long. -EINVAL with "JSON-pointer: what is wrong, what was expected": all that is wrong
 * with a VM of a snapshot, a VM that runs or is listed twice, one that is told its host, half of a
 * fault-tolerant pair without its other half. unknown may be NULL. */
int vms_read(const char *text, size_t len, const struct snapshot *cluster, struct arena *a,
             struct vms_to_place *ret, struct unknown_fields *unknown, struct err *err);

/* Reads the file, or standard input for "-"; errors as in snapshot_load(). */
int vms_json_load(const char *path, const struct snapshot *cluster, struct arena *a, struct vms_to_place *ret,
                  struct unknown_fields *unknown, struct err *err);

/* The sentence for what was ignored; NULL: nothing of the kind. */
const char *vms_json_ignored_text(const struct vms_to_place *v, enum vms_ignored what, struct arena *a);

#endif
