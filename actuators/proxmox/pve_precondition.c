/* pve_precondition.c: the API's own check before a migration (GET migrate). */
#include "actuators/proxmox/pve_operations.h"

#include "actuators/proxmox/pve_guest.h"
#include "base/cleanup.h"
#include "net/peer_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* {"unavailable_storages":["fast"],"blocking-ha-resources":[{"sid":"vm:101","cause":"..."}]} in a few words.
 */
static void put_reasons(const json_t *why, struct strbuf *b)
{
    json_t *list, *item;
    const char *key;
    size_t i;

    json_object_foreach((json_t *)why, key, list)
    {
        if (json_array_size(list) == 0)
            continue;
        strbuf_printf(b, "%s%.60s", b->len > 0 ? "; " : "", key);
        json_array_foreach(list, i, item)
        {
            const char *sid = peer_json_text(item, "sid"), *cause = peer_json_text(item, "cause");
            const char *name = json_string_value(item);
            if (sid)
                strbuf_printf(b, " %.60s (%.60s)", sid, cause ? cause : "no cause told");
            else
                strbuf_printf(b, " %.60s", name ? name : "?");
        }
    }
}

static const json_t *member(const json_t *o, const char *name, const char *in_kebab_case)
{
    const json_t *v = json_object_get(o, name);

    return v ? v : json_object_get(o, in_kebab_case);
}

/* The first local disk that is neither a CD image nor unused; NULL: none. */
static const char *local_disk(const json_t *answer)
{
    const json_t *disks = json_object_get(answer, "local_disks");
    json_t *disk;
    size_t i;

    json_array_foreach(disks, i, disk)
    {
        const char *volume = peer_json_text(disk, "volid");
        if (!peer_json_flag(disk, "cdrom") && !peer_json_flag(disk, "is_unused"))
            return volume ? volume : "a disk";
    }
    return NULL;
}

static const char *first_text(const json_t *list)
{
    const char *text = json_string_value(json_array_get(list, 0));

    return text ? text : "?";
}

static int is_allowed(struct pve_acting *x, const struct operation *q, const json_t *answer, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf why = {0};
    const json_t *allowed = member(answer, "allowed_nodes", "allowed-nodes");
    const json_t *not_allowed = member(answer, "not_allowed_nodes", "not-allowed-nodes");
    const json_t *devices = json_object_get(answer, "local_resources");
    const json_t *mapped = json_object_get(answer, "mapped-resources");
    const char *disk = local_disk(answer);
    json_t *item;
    size_t i;
    bool named = !allowed;

    strbuf_init(&why, ERR_TEXT_MAX);
    put_reasons(json_object_get(not_allowed, q->to), &why);
    json_array_foreach(allowed, i, item)
    {
        const char *name = json_string_value(item);
        named = named || (name && strcmp(name, q->to) == 0);
    }
    if (why.len > 0 || !named)
        return err_set(err, -EPERM, "%s: guest %s may not move to %s: %s", pve_url(x->api), q->vm, q->to,
                       why.len > 0 ? why.text : "the node is not among those that are allowed");
    if (json_array_size(devices) > 0 || json_array_size(mapped) > 0)
        return err_set(err, -EPERM, "%s: guest %s uses a device of its node (%.60s)", pve_url(x->api), q->vm,
                       first_text(json_array_size(devices) > 0 ? devices : mapped));
    if (disk && !x->settings->local_disks)
        return err_set(err, -EPERM, "%s: guest %s has a disk that is not shared, %.100s (local_disks)",
                       pve_url(x->api), q->vm, disk);
    return 0;
}

int pve_precondition_check(struct pve_acting *x, const struct operation *q, bool container, struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = NULL;
    struct err own = {0};
    char path[160];

    (void)snprintf(path, sizeof path, "/nodes/%s/%s/%s/migrate?target=%s", q->from,
                   pve_guest_folder(container), q->vm, q->to);
    int r = pve_get_object(x->api, path, &answer, &own);
    if (r == -EOPNOTSUPP && container)
        return 0;
    if (r == -EREMOTEIO && pve_is_lock(own.text))
        r = own.code = -EBUSY;
    if (r < 0) {
        if (err)
            *err = own;
        return r;
    }
    return is_allowed(x, q, answer, err);
}
