/* place_ovirt.h: why hosts refuse VMs of a cloud of oVirt that `ballast place` cannot power on. */
#ifndef BALLAST_CLI_PLACE_OVIRT_H
#define BALLAST_CLI_PLACE_OVIRT_H

#include "model/vms_json.h"

#include <ballast/plan.h>

/* For each VM that the plan does not power on, the hosts that are on and the filter that refuses each, in the
 * words of oVirt's engine and, as JSON, in ours as well. Adds to the text or the object that out has. */
void place_ovirt_refused(const struct plan *plan, const struct vms_to_place *vms, bool json, struct arena *a,
                         struct strbuf *out);

#endif
