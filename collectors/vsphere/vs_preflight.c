/* vs_preflight.c: connection, login, cluster and privileges as items for an admin. It finds no cluster and
 * asks for no privilege itself. */
#include "collectors/vsphere/vs_preflight.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "collectors/vsphere/find_cluster.h"
#include "collectors/vsphere/vs_privileges.h"

#include <ballast/actuator.h>

#include <errno.h>
#include <string.h>

#define CLUSTERS_LISTED_MAX 20
#define NAMES_LISTED_MAX 3

static bool verifies(const struct source_config *cfg)
{
    return strncmp(cfg->url, "https:", strlen("https:")) == 0 && cfg->tls_verify;
}

/* ---- connection and login ---- */

static void add_reached(const struct vs_seen *s, struct preflight *ret)
{
    const struct vsphere_content *c = vsphere_content(s->vsphere);

    if (c->api_version[0])
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_OK, "%s can be reached: %s, API %s", s->cfg->url,
                      c->is_vcenter ? "a vCenter" : "an ESXi host", c->api_version);
    else
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_OK, "%s can be reached", s->cfg->url);
    if (verifies(s->cfg))
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_OK, "its certificate is trusted");
    else
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_NOTE, "its certificate is not verified");
}

static void add_skipped(struct preflight *ret)
{
    preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_SKIPPED,
                  "cluster, privileges and entries of the configuration: not looked at");
}

/* Without a session: the error says how far it went. */
static void add_no_login(const struct vs_seen *s, struct preflight *ret)
{
    const char *text = s->err->text;

    switch (s->err->code) {
    case -EACCES:
        add_reached(s, ret);
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM,
                      "the login of %s was refused: user name or password are wrong", s->cfg->username);
        preflight_advise(ret,
                         "correct source.username or the file of source.password_file; it was tried once, "
                         "because directories lock accounts");
        preflight_about(ret, "source.password_file", NULL);
        break;
    case -EPERM:
        add_reached(s, ret);
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM,
                      "the password of %s was accepted, but this user has no permission anywhere",
                      s->cfg->username);
        preflight_advise(ret,
                         "give it the role Read-only on the cluster, with propagation, and on the folders "
                         "above it, without");
        break;
    case -EKEYREJECTED:
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_OK, "%s can be reached", s->cfg->url);
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM, "%s", text);
        preflight_advise(ret,
                         "give the certificate of the vCenter's authority as source.ca_file (the vCenter "
                         "offers it at /certs/download.zip), and name the vCenter in source.url as its "
                         "certificate does");
        preflight_about(ret, "source.ca_file", NULL);
        http_offer_certificate(s->cfg->url, s->cfg->stop, ret);
        break;
    case -EPROTO:
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM, "%s", text);
        preflight_advise(ret, "check source.url: the path of a vCenter's API is /sdk");
        preflight_about(ret, "source.url", NULL);
        break;
    default:
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM, "%s", text);
        preflight_advise(ret, s->err->code == -ETIMEDOUT
                                  ? "check source.url, and that no firewall is in the way"
                                  : "check source.url");
        preflight_about(ret, "source.url", NULL);
    }
    add_skipped(ret);
}

/* ---- the cluster ---- */

static void add_clusters(const struct vs_seen *s, struct preflight *ret)
{
    struct cluster_place *list;
    struct err err = {0};
    size_t n = 0;

    vsphere_deadline_from_config(s->vsphere);
    if (find_cluster_list(s->vsphere, ret->a, &list, &n, &err) < 0)
        return;
    for (size_t i = 0; i < n && i < CLUSTERS_LISTED_MAX; i++) {
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE, "there is a cluster %s (%s)", list[i].path,
                      list[i].id);
        preflight_about(ret, "source.cluster", list[i].path);
    }
    if (n > CLUSTERS_LISTED_MAX)
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE, "and %zu more", n - CLUSTERS_LISTED_MAX);
}

static void add_no_cluster(const struct vs_seen *s, struct preflight *ret)
{
    preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_PROBLEM, "%s", s->err->text);
    if (s->cluster[0])
        return; /* it was found, and reading it failed */
    preflight_advise(ret, "write the path or the id of the right one as source.cluster");
    preflight_about(ret, "source.cluster", NULL);
    add_clusters(s, ret);
}

static void add_tags(const struct vs_seen *s, struct preflight *ret)
{
    const struct err *why = vs_tags_error(s->tags);

    if (!why) {
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_OK, "tags can be read: %zu hosts and VMs have some",
                      vs_tags_objects(s->tags));
        return;
    }
    preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE, "tags cannot be read, so they are no labels: %s",
                  why->text);
    preflight_advise(ret, "nothing, if no entry of the configuration selects by tags or labels, and "
                          "proxlb_tags is off");
}

static void add_unread(const struct vs_seen *s, struct preflight *ret)
{
    if (s->inv->n_hosts == 0 || s->inv->n_vms == 0) {
        preflight_add(ret, PREFLIGHT_CLUSTER, s->inv->n_hosts == 0 ? PREFLIGHT_PROBLEM : PREFLIGHT_NOTE,
                      "the user sees no %s in the cluster", s->inv->n_hosts == 0 ? "host" : "VM");
        preflight_advise(ret,
                         "if there are some: give %s the role on the cluster with \"Propagate to children\"",
                         s->cfg->username);
    }
    if (s->unreadable > 0) {
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_PROBLEM,
                      "%zu properties of hosts, VMs and pools may not be read", s->unreadable);
        preflight_advise(ret, "give %s the role Read-only on the cluster, with propagation",
                         s->cfg->username);
    }
    if (s->no_attributes)
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE,
                      "the names of custom attributes cannot be read, so they are no labels");
    if (s->no_devices)
        preflight_add(
            ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE,
            "the devices of VMs cannot be read: what binds a VM to its host is found out by vCenter "
            "only, when a migration is checked");
    if (s->no_counters)
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE,
                      "demand is read from quick stats: performance counters are missing or contradict them");
}

/* ---- privileges ---- */

/* Pools have the cluster's permissions, and nothing is done to them. Agent VMs are never moved. */
static size_t list_entities(const struct vs_seen *s, struct arena *a, struct vs_entity **ret)
{
    const struct inventory *inv = s->inv;
    struct vs_entity *list = arena_array(a, struct vs_entity, 1 + inv->n_hosts + inv->n_vms);
    size_t n = 0;

    list[n++] = (struct vs_entity){"ClusterComputeResource", s->cluster, inv->cluster, ON_CLUSTER};
    for (size_t i = 0; i < inv->n_hosts; i++)
        list[n++] = (struct vs_entity){"HostSystem", inv->hosts[i].is.id, inv->hosts[i].is.name, ON_HOSTS};
    for (size_t i = 0; i < inv->n_vms; i++) {
        if (inv->vms[i].is.kind != VM_AGENT)
            list[n++] = (struct vs_entity){"VirtualMachine", inv->vms[i].is.id, inv->vms[i].is.name, ON_VMS};
    }
    *ret = list;
    return n;
}

static const char *objects_word(unsigned on)
{
    return on == ON_HOSTS              ? "hosts"
           : on == ON_VMS              ? "VMs"
           : on == (ON_HOSTS | ON_VMS) ? "hosts and VMs"
                                       : "objects";
}

static void add_privilege(const struct vs_seen *s, size_t ix, const struct vs_entity *entities, size_t n,
                          const uint32_t *missing, unsigned operations, struct preflight *ret)
{
    const struct vs_privilege *p = &vs_privileges[ix];
    CLEANUP(strbuf_releasep) struct strbuf names = STRBUF_EMPTY;
    size_t all = 0;
    size_t lacking = 0;

    for (size_t i = 0; i < n; i++) {
        all += (entities[i].on & p->on) != 0;
        if (!(missing[i] & (1u << ix)))
            continue;
        if (lacking < NAMES_LISTED_MAX)
            strbuf_printf(&names, "%s%s", lacking > 0 ? ", " : "",
                          entities[i].name ? entities[i].name : entities[i].id);
        lacking++;
    }
    if (all == 0)
        return;
    if (lacking == 0) {
        preflight_add(ret, PREFLIGHT_PRIVILEGES, PREFLIGHT_OK, "%s: %s", p->id, p->purpose);
        return;
    }
    const bool needed = p->operations == 0 || (!p->optional && (p->operations & operations) != 0);

    if (lacking == all)
        preflight_add(ret, PREFLIGHT_PRIVILEGES, needed ? PREFLIGHT_PROBLEM : PREFLIGHT_NOTE,
                      "%s is missing on all %zu %s: %s", p->id, all, objects_word(p->on), p->purpose);
    else
        preflight_add(ret, PREFLIGHT_PRIVILEGES, needed ? PREFLIGHT_PROBLEM : PREFLIGHT_NOTE,
                      "%s is missing on %zu of %zu %s: %s; on %s%s", p->id, lacking, all, objects_word(p->on),
                      p->purpose, names.text, lacking > NAMES_LISTED_MAX ? ", ..." : "");
    preflight_advise(
        ret, "%sadd %s to the role of %s on the cluster, with propagation%s",
        needed ? "" : "if Ballast is to do this: ", p->label, s->cfg->username,
        lacking == all ? "" : "; a permission on such an object or its folder overrides the cluster's");
}

static void add_privileges(const struct vs_seen *s, unsigned operations, struct preflight *ret)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct vs_entity *entities;
    struct err err = {0};
    size_t n = list_entities(s, &a, &entities);
    uint32_t *missing = arena_array(&a, uint32_t, n);

    vsphere_deadline_from_config(s->vsphere);
    if (vs_privileges_ask(s->vsphere, entities, n, missing, &err) < 0) {
        preflight_add(ret, PREFLIGHT_PRIVILEGES, PREFLIGHT_NOTE, "privileges cannot be looked up: %s",
                      err.text);
        preflight_advise(ret, "compare the user's role with ballast-vsphere(7)");
        return;
    }
    for (size_t i = 0; i < vs_privileges_count; i++)
        add_privilege(s, i, entities, n, missing, operations, ret);
}

void vs_preflight(const struct vs_seen *s, unsigned operations, struct preflight *ret)
{
    if (!s->inv && !vsphere_is_logged_in(s->vsphere)) {
        add_no_login(s, ret);
        return;
    }
    add_reached(s, ret);
    preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_OK, "the login of %s was accepted", s->cfg->username);
    if (!s->inv) {
        add_no_cluster(s, ret);
        return;
    }
    preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_OK, "cluster %s (%s): %zu hosts, %zu VMs, %zu rules",
                  s->inv->cluster, s->cluster, s->inv->n_hosts, s->inv->n_vms, s->inv->n_rules);
    preflight_about(ret, "cluster", s->inv->cluster);
    add_unread(s, ret);
    add_tags(s, ret);
    add_privileges(s, operations, ret);
}
