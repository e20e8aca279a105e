/* ceph.c: reads what Ceph says of its services. It asks for nothing. */
#include "net/proxmox/ceph.h"

#include "net/peer_json.h"

#include <errno.h>
#include <string.h>

bool pve_ceph_is_missing(int code, const char *reason)
{
    return code == -EREMOTEIO && (strstr(reason, "binary not installed: ") ||
                                  strstr(reason, "pveceph configuration not initialized"));
}

/* "n1" or "n1.example.com" */
static bool is_host(const char *text, const char *node)
{
    size_t len = strlen(node);

    return text && strncmp(text, node, len) == 0 && (!text[len] || text[len] == '.');
}

static const char *host_in_key(const char *key)
{
    const char *at = strrchr(key, '@');

    return at && at[1] ? at + 1 : NULL;
}

bool pve_ceph_is_whole(const json_t *metadata)
{
    static const char *const keyed[] = {"mon", "mgr", "mds"};
    const json_t *osds = json_object_get(metadata, "osd");
    json_t *value;
    const char *key;
    size_t i;

    if (!json_is_array(osds))
        return false;
    json_array_foreach(osds, i, value)
    {
        if (!peer_json_text(value, "hostname"))
            return false;
    }
    for (i = 0; i < sizeof keyed / sizeof keyed[0]; i++) {
        json_t *services = json_object_get(metadata, keyed[i]);

        if (!json_is_object(services))
            return false;
        json_object_foreach(services, key, value)
        {
            if (!peer_json_text(value, "hostname") && !host_in_key(key))
                return false;
        }
    }
    return true;
}

bool pve_ceph_runs(const json_t *metadata, const char *service, const char *node)
{
    json_t *services = json_object_get(metadata, service), *value;
    const char *key;
    size_t i;

    json_object_foreach(services, key, value)
    {
        if (is_host(peer_json_text(value, "hostname"), node) || is_host(host_in_key(key), node))
            return true;
    }
    json_array_foreach(services, i, value)
    {
        if (is_host(peer_json_text(value, "hostname"), node))
            return true;
    }
    return false;
}
