/* pve_preflight.c: what the look of `check-config --connect` has found: address, login, cluster, privileges.
 * It asks for nothing itself. */
#include "collectors/proxmox/pve_preflight.h"

#include "net/http.h"
#include "net/peer_json.h"
#include "net/proxmox/settings.h"

#include <ballast/actuator.h>

#include <errno.h>
#include <string.h>

#define ADDRESS_MS 5000 /* for each of the other addresses */

/* What a privilege is needed for: all reading, acting, standby and wake, or a part that can be missing. */
enum need { ALWAYS, TO_ACT, TO_SWITCH, OF_USE };

static const struct {
    const char *path, *privilege;
    enum need need;
    const char *purpose;
} privileges[] = {
    {"/", "Sys.Audit", ALWAYS, "nodes, quorum, HA, options of the datacenter"},
    {"/vms", "VM.Audit", ALWAYS, "guests, their loads and their configurations"},
    {"/storage", "Datastore.Audit", ALWAYS, "which node has which storage"},
    {"/pool", "Pool.Audit", OF_USE, "pools, by which entries of the configuration select guests"},
    {"/sdn", "SDN.Audit", OF_USE,
     "which node has which bridge; without it guests are not kept off a node for one"},
    {"/vms", "VM.Migrate", TO_ACT, "migrations, also those by HA"},
    {"/vms", "VM.PowerMgmt", OF_USE, "starting guests: `ballast place --apply`"},
    {"/nodes", "Sys.PowerMgmt", TO_SWITCH, "standby and wake of nodes by their own API"},
    {"/nodes", "Sys.Modify", OF_USE, "cancelling a migration that hangs, if HA began it"},
};

static const char *const to_copy_disks[][2] = {{"VM.Config.Disk", "/vms"},
                                               {"Datastore.AllocateSpace", "/storage"}};

static void add_privilege(const struct pve_look *l, const json_t *has, const char *path,
                          const char *privilege, bool problem, const char *purpose, struct preflight *ret)
{
    if (pve_may(has, path, privilege)) {
        preflight_add(ret, PREFLIGHT_PRIVILEGES, PREFLIGHT_OK, "%s on %s: %s", privilege, path, purpose);
        return;
    }
    preflight_add(ret, PREFLIGHT_PRIVILEGES, problem ? PREFLIGHT_PROBLEM : PREFLIGHT_NOTE,
                  "%s is missing on %s: %s", privilege, path, purpose);
    preflight_advise(ret,
                     "add %s to the role of %s on /, with propagation; a token with separated privileges "
                     "needs a permission of its own, beside its user's",
                     privilege, l->cfg->username);
}

static void add_privileges(const struct pve_look *l, const json_t *has, unsigned operations,
                           struct preflight *ret)
{
    const struct proxmox_settings *settings = l->cfg->settings;
    const bool acts = (operations & 1u << OPERATION_MIGRATE) != 0;

    for (size_t i = 0; i < sizeof privileges / sizeof privileges[0]; i++)
        add_privilege(l, has, privileges[i].path, privileges[i].privilege,
                      privileges[i].need == ALWAYS || (privileges[i].need == TO_ACT && acts) ||
                          (privileges[i].need == TO_SWITCH && operations & 1u << OPERATION_STANDBY),
                      privileges[i].purpose, ret);
    for (size_t i = 0; settings && settings->local_disks && i < 2; i++)
        add_privilege(l, has, to_copy_disks[i][1], to_copy_disks[i][0], acts, "migrations with local disks",
                      ret);
}

/* A permission on a single guest overrides that of the cluster. */
static void add_hidden(const json_t *has, struct preflight *ret)
{
    json_t *value;
    const char *key, *first = NULL;
    size_t n = 0;

    json_object_foreach((json_t *)has, key, value)
    {
        if (strncmp(key, "/vms/", 5) != 0 || json_object_get(value, "VM.Audit"))
            continue;
        first = first ? first : key;
        n++;
    }
    if (n == 0)
        return;
    preflight_add(
        ret, PREFLIGHT_PRIVILEGES, PREFLIGHT_PROBLEM,
        "VM.Audit is missing on %zu guests, such as %.100s: they are not seen, and their load is not "
        "reckoned with",
        n, first);
    preflight_advise(ret, "remove the permission on the guest, or give it the role, too");
}

static void add_failure(const struct pve_look *l, const struct err *err, struct preflight *ret)
{
    preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM, "%s", err->text);
    switch (err->code) {
    case -EACCES:
        preflight_advise(ret, "correct source.username (USER@REALM or USER@REALM!TOKEN) or the file of "
                              "source.password_file");
        preflight_about(ret, "source.password_file", NULL);
        break;
    case -EPERM:
        preflight_advise(ret, "give %s the role of ballast-proxmox(7) on /, with propagation",
                         l->cfg->username);
        break;
    case -EKEYREJECTED:
        preflight_advise(
            ret, "give /etc/pve/pve-root-ca.pem of a node as source.ca_file, or the fingerprints of the "
                 "nodes' certificates as source.fingerprints");
        preflight_about(ret, "source.ca_file", NULL);
        http_offer_certificate(pve_url(l->api), l->cfg->stop, ret);
        break;
    case -ENOENT:
        preflight_advise(ret, "correct source.cluster, or source.url");
        preflight_about(ret, "source.cluster", NULL);
        break;
    default:
        preflight_advise(ret, "check source.url and source.other_urls: https://HOST:8006%s",
                         err->code == -ETIMEDOUT ? ", and that no firewall is in the way" : "");
        preflight_about(ret, "source.url", NULL);
    }
}

/* The others are asked only where one does not answer. */
static void add_other_addresses(const struct pve_look *l, struct preflight *ret)
{
    for (size_t i = 0; i < pve_addresses(l->api); i++) {
        struct err err = {0};

        if (pve_compare_address(l->api, i, ADDRESS_MS, &err) == 0)
            continue;
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM, "%s", err.text);
        preflight_advise(ret, "correct source.other_urls: addresses of nodes of this cluster");
    }
}

/* How far configurations were read: what is not read yet stays where it is. */
static void add_unread(const struct pve_look *l, const struct pve_view *view, struct preflight *ret)
{
    size_t unread = 0;

    for (size_t i = 0; i < view->n_guests; i++)
        unread += !view->guests[i].is_template &&
                  !pve_look_of_guest(l, &view->guests[i], PVE_CONFIG, PVE_CONFIG_MS);
    if (unread > 0)
        preflight_add(
            ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE,
            "the configurations of %zu guests are not read yet: the service reads them in its first looks, "
            "and recommends no move of such a guest before",
            unread);
}

static void add_nodes(const struct pve_look *l, const struct pve_view *view, struct preflight *ret)
{
    double present = 0, all = 0;

    for (size_t i = 0; i < view->n_nodes; i++) {
        const struct pve_node *n = &view->nodes[i];
        const char *version =
            peer_json_text(pve_look_of_node(l, n->name, PVE_STATUS, PVE_CONFIG_MS), "pveversion");

        all += isnan(n->votes) ? 0 : n->votes;
        present += isnan(n->votes) || !n->online ? 0 : n->votes;
        if (n->online && !version) {
            preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_PROBLEM,
                          "node %s is online, and its API does not answer", n->name);
            preflight_advise(ret, "look at pveproxy and pvedaemon of %s", n->name);
        } else if (n->online && pve_major(version) < 8) {
            preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_NOTE,
                          "node %s has %.60s, and 8.4 is the oldest that is "
                          "tested",
                          n->name, version);
        }
    }
    if (all > 0)
        preflight_add(ret, PREFLIGHT_CLUSTER, view->quorate ? PREFLIGHT_OK : PREFLIGHT_PROBLEM,
                      "%s: %.0f of %.0f votes are there", view->quorate ? "quorate" : "no quorum", present,
                      all);
}

void pve_preflight(struct pve_look *l, const struct pve_view *view, const struct inventory *inv,
                   const struct err *err, unsigned operations, struct preflight *ret)
{
    const struct pve_kept *has = idmap_get(&l->cache.by_path, PVE_PERMISSIONS);

    if (!inv) {
        add_failure(l, err, ret);
        if (has && has->data)
            add_privileges(l, has->data, operations, ret);
        return;
    }
    preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_OK, "%s can be reached, and its certificate is trusted",
                  pve_url(l->api));
    preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_OK, "the login of %s was accepted", l->cfg->username);
    add_other_addresses(l, ret);
    preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_OK, "cluster %s: %zu nodes, %zu guests, %zu rules of HA",
                  inv->cluster, inv->n_hosts, inv->n_vms, inv->n_rules);
    preflight_about(ret, "cluster", inv->cluster);
    add_nodes(l, view, ret);
    add_unread(l, view, ret);
    if (has && has->data) {
        add_privileges(l, has->data, operations, ret);
        add_hidden(has->data, ret);
    }
}
