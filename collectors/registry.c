#include "collectors/registry.h"

#include "collectors/file/file.h"
#include "collectors/sim/sim.h"
#include "collectors/vsphere/vsphere.h"

#include <stddef.h>
#include <string.h>

static const struct collector_ops *const all[] = {&file_collector, &pretend_collector, &vsphere_collector,
                                                  NULL};

const struct collector_ops *const *collectors_all(void)
{
    return all;
}

const struct collector_ops *collector_find(const char *kind)
{
    for (size_t i = 0; all[i]; i++) {
        if (strcmp(all[i]->kind, kind) == 0)
            return all[i];
    }
    return NULL;
}
