/* pools.c: writes the settings of resource pools of a single host, one after the other, which needs no
 * task. */
#include "actuators/vsphere/operations.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

/* A host's compute resource, which owns its resource pools. */
struct owner {
    char host_name[MOREF_MAX];
    char id[MOREF_MAX];
    bool cluster;
};

static int find_owner(struct vsphere *v, const char *host, struct owner *ret, struct err *err)
{
    static const char *const paths[] = {"name", "parent", "runtime.connectionState", NULL};
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_object o;
    int r = vsphere_get(v, "HostSystem", host, paths, &answer, &o, err);

    if (r < 0)
        return r;
    const xml_node *parent = vsphere_prop(&o, "parent");
    const char *type = parent ? xml_attribute(parent, "type", &a) : NULL;

    *ret = (struct owner){.cluster = type && strcmp(type, "ClusterComputeResource") == 0};
    xml_line(vsphere_prop(&o, "name"), ret->host_name, sizeof ret->host_name);
    xml_line(parent, ret->id, sizeof ret->id);
    if (!ret->id[0])
        return err_set(err, -EPROTO, "%s: what host %s is part of cannot be read", vsphere_url(v), host);
    if (!ret->cluster && !xml_text_is(vsphere_prop(&o, "runtime.connectionState"), "connected"))
        return err_set(err, -EHOSTDOWN, "%s: host %s is not connected, so its pools cannot be set",
                       vsphere_url(v), ret->host_name);
    return 0;
}

/* Whether the pool is one of the host's own tree. */
static int check_pool(struct vsphere *v, const struct owner *owner, const char *pool, struct err *err)
{
    static const char *const paths[] = {"owner", NULL};
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_object o;
    int r = vsphere_get(v, "ResourcePool", pool, paths, &answer, &o, err);

    if (r < 0)
        return r;
    if (!xml_text_is(vsphere_prop(&o, "owner"), owner->id))
        return err_set(err, -ENOENT, "%s: %s is no pool of host %s", vsphere_url(v), pool, owner->host_name);
    return 0;
}

/* A setting that is not given stays unchanged: the shares of a pool without VMs, and whether a reservation
 * expands. */
static void put_alloc(struct strbuf *b, const char *element, const struct alloc *alloc, bool nothing)
{
    strbuf_printf(b, "<%s><reservation>%.0f</reservation><limit>%.0f</limit>", element, alloc->reservation,
                  alloc->limit < NO_LIMIT ? alloc->limit : -1);
    if (!nothing)
        strbuf_printf(b, "<shares><shares>%.0f</shares><level>custom</level></shares>", alloc->shares);
    strbuf_printf(b, "</%s>", element);
}

static int update(struct vsphere *v, const struct pool_setting *s, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};

    vsphere_begin(&body, "UpdateConfig", "ResourcePool", s->pool);
    strbuf_puts(&body, "<config>");
    put_alloc(&body, "cpuAllocation", &s->alloc[RES_CPU], s->nothing);
    put_alloc(&body, "memoryAllocation", &s->alloc[RES_MEM], s->nothing);
    strbuf_puts(&body, "</config>");
    vsphere_end(&body, "UpdateConfig");
    return vsphere_call(v, "UpdateConfig", &body, &answer, err);
}

/* A pool cannot reserve more than its parent, nor less than its children: whether parent or child must
 * change first depends on the direction of the change. So refused pools are tried again after the others,
 * as long as at least one succeeds. */
static int update_all(struct vsphere *v, const struct pool_settings *q, bool *done, struct err *err)
{
    size_t left = q->n_settings;
    size_t before;
    int last = 0;

    do {
        before = left;
        for (size_t i = 0; i < q->n_settings; i++) {
            if (done[i])
                continue;
            int r = update(v, &q->settings[i], err);
            done[i] = r == 0;
            left -= r == 0;
            if (r < 0 && r != -EREMOTEIO)
                return r;
            last = r < 0 ? r : last;
        }
    } while (left > 0 && left < before);
    if (left == 0 && err)
        *err = (struct err){0};
    return left > 0 ? last : 0;
}

int pools_apply(struct vsphere *v, const struct pool_settings *q, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct owner owner;
    int r = find_owner(v, q->host, &owner, err);

    if (r < 0)
        return r;
    if (owner.cluster)
        return err_set(err, -ENOTSUP,
                       "%s: host %s is in a cluster, where vCenter itself gives each host its part of a pool "
                       "(with DRS), or there are no pools (without): nothing can be set on the host",
                       vsphere_url(v), owner.host_name);
    for (size_t i = 0; r == 0 && i < q->n_settings; i++)
        r = check_pool(v, &owner, q->settings[i].pool, err);
    return r < 0 ? r : update_all(v, q, arena_array(&a, bool, q->n_settings), err);
}
