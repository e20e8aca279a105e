#include "actuators/registry.h"

#include "actuators/sim/sim.h"
#include "actuators/vsphere/vsphere.h"

#include <stddef.h>
#include <string.h>

static const struct actuator_ops *const all[] = {&pretend_actuator, &vsphere_actuator, NULL};

const struct actuator_ops *const *actuators_all(void)
{
    return all;
}

const struct actuator_ops *actuator_find(const char *kind)
{
    for (size_t i = 0; all[i]; i++) {
        if (strcmp(all[i]->kind, kind) == 0)
            return all[i];
    }
    return NULL;
}
