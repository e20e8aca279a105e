/* plugins.c: the list of plug-ins, a line each. The skeletons are compiled, and on no list. */
#include "plugins/plugins.h"

#include "actuators/vsphere/vsphere.h"
#include "collectors/file/file.h"
#include "collectors/vsphere/vsphere.h"
#include "sim/fake_cluster/fake_cluster.h"

#include <stddef.h>
#include <string.h>

static const struct plugin all[] = {
    {"file", &file_collector, NULL},
    {"sim", &fake_cluster_collector, &fake_cluster_actuator, fake_cluster_open, fake_cluster_close},
    {"vsphere", &vsphere_collector, &vsphere_actuator},
};

const struct plugin *plugins_find(const char *kind)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].kind, kind) == 0)
            return &all[i];
    }
    return NULL;
}
