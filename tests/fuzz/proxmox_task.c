/* Names of tasks of Proxmox VE, which a node tells and the store keeps, and lines of their logs. */
#include "actuators/proxmox/pve_log.h"
#include "actuators/proxmox/pve_task.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size), *line, *rest = text;
    char name[TASK_NAME_MAX];
    struct pve_ha_move m;
    struct pve_upid u;
    struct pve_log log;

    if (!text)
        return 0;
    if (pve_upid_read(text, &u) && (!pve_is_node_name(u.node) || !pve_is_vmid(u.id)))
        abort();
    if (pve_ha_name_read(text, &m)) {
        pve_ha_name_write(&m, name);
        if (!pve_ha_name_read(name, &m))
            abort();
    }
    pve_log_init(&log);
    while ((line = strsep(&rest, "\n")))
        pve_log_take(&log, line);
    if (log.percent < -1 || log.percent > 99 || (log.to[0] && !pve_is_node_name(log.to)))
        abort();
    free(text);
    return 0;
}
