/* pve_look.c: chooses and makes the requests of a look. It does not make an inventory of the answers. */
#include "collectors/proxmox/pve_look.h"

#include "base/cleanup.h"
#include "base/fingerprint.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "collectors/proxmox/pve_property.h"
#include "net/http.h"
#include "net/peer_json.h"

#include <ballast/units.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODE_MOST_MS 10000 /* for a request that another node answers; a proxied one may hang for 30 s */
#define HUNG_MOST_MS 1000  /* ... while it has not answered */
#define PATH_MAX_BYTES 256
#define COMPARE_MS 2000
#define CONFIG_KEYS_MAX 512
#define RETRY_MS (INT64_C(60) * 1000)
#define RETRY_GUEST_MS                                                                                       \
    (INT64_C(4) * 1000) /* after the first failure, twice as long after each: up to a minute */
#define RETRY_DOUBLINGS 4
#define RETRY_REFUSED_MS (INT64_C(600) * 1000) /* what time alone does not mend */

#define PRESSURE_ROWS 5

#define CONFIG_EVERY_MS (INT64_C(3600) * 1000)

/* Asked for in rotation: the one that is most overdue comes first. */
struct regular {
    const char *what;
    int64_t every_ms;
    unsigned from; /* the version that has it; 0: all */
};

static const struct regular of_cluster[] = {
    {PVE_PERMISSIONS, INT64_C(300) * 1000, 0}, {PVE_VOTES, INT64_C(600) * 1000, 0},
    {PVE_QDEVICE, INT64_C(600) * 1000, 0},     {PVE_REPLICATION, INT64_C(300) * 1000, 0},
    {PVE_CEPH, INT64_C(600) * 1000, 0},
};

static const struct regular of_node[] = {
    {PVE_QEMU, INT64_C(60) * 1000, 9},
    {PVE_STATUS, INT64_C(600) * 1000, 0},
    {PVE_RRD, INT64_C(180) * 1000, 9},
    {PVE_NETWORK, INT64_C(900) * 1000, 0},
};

/* ---- paths and memory ---- */

static void node_path(const char *node, const char *what, char ret[PATH_MAX_BYTES])
{
    (void)snprintf(ret, PATH_MAX_BYTES, "/nodes/%s/%s", node, what);
}

static void guest_path(const struct pve_guest *g, const char *what, char ret[PATH_MAX_BYTES])
{
    (void)snprintf(ret, PATH_MAX_BYTES, "/nodes/%s/%s/%s/%s", g->node, g->container ? "lxc" : "qemu", g->id,
                   what);
}

/* Guests move: the answer is kept under the guest, wherever it is. */
static void guest_key(const struct pve_guest *g, const char *what, char ret[PATH_MAX_BYTES])
{
    (void)snprintf(ret, PATH_MAX_BYTES, "%s/%s", g->id, what);
}

const json_t *pve_look_of_node(const struct pve_look *l, const char *node, const char *what,
                               int64_t oldest_ms)
{
    char path[PATH_MAX_BYTES];

    node_path(node, what, path);
    return pve_cache_get(&l->cache, path, l->now_ms, oldest_ms);
}

const json_t *pve_look_of_guest(const struct pve_look *l, const struct pve_guest *g, const char *what,
                                int64_t oldest_ms)
{
    char key[PATH_MAX_BYTES];

    guest_key(g, what, key);
    return pve_cache_get(&l->cache, key, l->now_ms, oldest_ms);
}

unsigned pve_look_major(const struct pve_look *l, const char *node)
{
    return pve_major(peer_json_text(pve_look_of_node(l, node, PVE_STATUS, PVE_CONFIG_MS), "pveversion"));
}

struct pve_node_memory *pve_look_node_memory(struct pve_look *l, const char *node)
{
    return idmap_make(&l->nodes, node, sizeof(struct pve_node_memory));
}

struct pve_guest_memory *pve_look_guest_memory(struct pve_look *l, const char *id)
{
    struct pve_guest_memory *m = idmap_make(&l->guests, id, sizeof(struct pve_guest_memory));

    m->seen = true;
    return m;
}

static bool keep_guest(const char *id, void *value, void *ctx)
{
    struct pve_guest_memory *m = value;
    bool seen = m->seen;

    (void)id, (void)ctx;
    m->seen = false;
    if (!seen)
        free(m);
    return seen;
}

void pve_look_release(struct pve_look *l)
{
    pve_cache_release(&l->cache);
    idmap_release(&l->nodes, free);
    idmap_release(&l->guests, free);
    idmap_release(&l->slow_nodes, NULL);
}

/* ---- one request ---- */

static bool is_over(const struct pve_look *l)
{
    return pve_left_ms(l->api) <= 0 || (l->cfg->stop && atomic_load(l->cfg->stop));
}

/* The parts of a guest's configuration that are read; a description or a start-up script may be long. */
static json_t *reduce_config(json_t *data)
{
    static const char *const whole[] = {"cpu",      "sockets",  "cores",     "cpulimit", "hugepages",
                                        "affinity", "balloon",  "rootfs",    "ostype",   "args",
                                        "lock",     "efidisk0", "tpmstate0", "smbios1",  "vmgenid"};
    static const char *const families[] = {"net",     "scsi", "virtio",   "ide", "sata", "unused",
                                           "hostpci", "usb",  "virtiofs", "mp",  "dev"};
    json_t *kept = json_object(), *value;
    const char *key;

    json_object_foreach(data, key, value)
    {
        bool wanted = false;

        for (size_t i = 0; !wanted && i < sizeof whole / sizeof whole[0]; i++)
            wanted = strcmp(key, whole[i]) == 0;
        for (size_t i = 0; !wanted && i < sizeof families / sizeof families[0]; i++)
            wanted = pve_is_of(key, families[i]);
        if (wanted && json_object_size(kept) < CONFIG_KEYS_MAX)
            (void)json_object_set(kept, key, value);
    }
    json_decref(data);
    return kept;
}

/* Of an hour of samples, one for each minute, the last one that has what is read; of the pressure the least
 * of five minutes. */
static json_t *reduce_rrd(json_t *data)
{
    static const char pressure[] = "pressurememoryfull";
    json_t *kept = NULL;
    double least = INFINITY;
    int rows = 0;

    for (size_t i = json_array_size(data); !kept && i > 0; i--) {
        json_t *row = json_array_get(data, i - 1);
        if (json_object_get(row, "memused") || json_object_get(row, "arcsize"))
            kept = json_incref(row);
    }
    for (size_t i = json_array_size(data); rows < PRESSURE_ROWS && i > 0; i--)
        if (peer_json_number(json_array_get(data, i - 1), pressure) >= 0) {
            least = fmin(least, peer_json_number(json_array_get(data, i - 1), pressure));
            rows++;
        }
    if (kept)
        (void)json_object_set_new(kept, pressure, json_real(rows == PRESSURE_ROWS ? least : 0));
    json_decref(data);
    return kept ? kept : json_object();
}

static int request(struct pve_look *l, const char *path, struct pve_kept *k, int64_t at_most_ms,
                   struct err *err)
{
    struct err own = {0};
    json_t *data = NULL;
    int r = pve_get(l->api, path, at_most_ms, &data, &own);

    if (r < 0) {
        pve_cache_fail(k, &own, l->now_ms);
        if (err)
            *err = own;
        return r;
    }
    if (strstr(path, "/" PVE_RRD))
        data = reduce_rrd(data);
    else if (strstr(path, "/" PVE_CONFIG) && strncmp(path, "/nodes/", 7) == 0)
        data = reduce_config(data);
    if (strcmp(path, PVE_QDEVICE) == 0 && json_object_size(data) > 0)
        l->has_qdevice = true;
    pve_cache_put(k, data, l->now_ms);
    return 0;
}

/* A look fails without it, unless it was answered before: then the last answer serves. */
static int request_needed(struct pve_look *l, const char *path, struct err *err)
{
    struct pve_kept *k = pve_cache_slot(&l->cache, path);
    int r = request(l, path, k, 0, err);

    return r < 0 && k->data && r != -EACCES && r != -ECANCELED && !is_over(l) ? 0 : r;
}

/* A guest whose configuration was never read stays where it is, so it is asked for again soon: most failures
 * are those of a guest that was locked or moved at that moment. */
static int64_t retry_ms(const struct pve_kept *k, int64_t every_ms)
{
    if (every_ms < CONFIG_EVERY_MS || k->at_ms > 0 || k->fails > RETRY_DOUBLINGS)
        return RETRY_MS;
    return RETRY_GUEST_MS << (k->fails - 1);
}

/* How overdue it is: 1 is due, below 0: it may not be asked for again yet. Time mends what failed with a
 * guest, which may have moved; not that there is no Ceph. */
static double urgency(const struct pve_kept *k, int64_t every_ms, int64_t now_ms)
{
    bool lasting = k->refused == -EPERM || k->refused == -EOPNOTSUPP ||
                   (k->refused == -EREMOTEIO && every_ms < CONFIG_EVERY_MS);
    int64_t pause = k->refused == 0 ? 0 : lasting ? RETRY_REFUSED_MS : retry_ms(k, every_ms);

    if (k->tried_ms > 0 && now_ms - k->tried_ms < pause)
        return -1;
    if (k->at_ms == 0 || k->changed)
        return 1e9;
    return (double)(now_ms - k->at_ms) / (double)every_ms;
}

/* ---- the cluster ---- */

/* Answers about the cluster that change seldom: each once, then the most overdue ones. */
static void ask_slow(struct pve_look *l, unsigned most)
{
    for (;;) {
        const struct regular *next = NULL;
        struct pve_kept *of = NULL;
        double best = 1;

        for (size_t i = 0; i < sizeof of_cluster / sizeof of_cluster[0]; i++) {
            struct pve_kept *k = pve_cache_slot(&l->cache, of_cluster[i].what);
            double u = urgency(k, of_cluster[i].every_ms, l->now_ms);

            if (u >= best && k->tried_ms < l->now_ms && (pve_requests(l->api) < most || k->tried_ms == 0)) {
                best = u;
                next = &of_cluster[i];
                of = k;
            }
        }
        if (!next || is_over(l))
            return;
        (void)request(l, next->what, of, NODE_MOST_MS, NULL);
    }
}

/* Privileges that a reader must have, lest what it may not see passes for what is not there. */
static int check_privileges(struct pve_look *l, struct err *err)
{
    static const struct {
        const char *path, *privilege;
    } needed[] = {{"/", "Sys.Audit"}, {"/vms", "VM.Audit"}, {"/storage", "Datastore.Audit"}};
    struct pve_kept *k = pve_cache_slot(&l->cache, PVE_PERMISSIONS);

    if (!k->data)
        return err_set(err, k->refused ? k->refused : -EPROTO, "the privileges of %s cannot be read: %s",
                       l->cfg->username, k->why);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (pve_may(k->data, needed[i].path, needed[i].privilege))
            continue;
        k->changed = true; /* asked for again at once: an admin is about to mend it */
        return err_set(err, -EPERM,
                       "%s: %s lacks %s on %s: it does not see all of the cluster, and empty lists are no "
                       "empty cluster. Give it the role of ballast-proxmox(7)",
                       pve_url(l->api), l->cfg->username, needed[i].privilege, needed[i].path);
    }
    return 0;
}

static int read_cluster(struct pve_look *l, struct arena *a, struct pve_view *view, struct err *err)
{
    static const char *const state[] = {"/cluster/resources", "/cluster/status"};
    int r = 0;

    for (size_t i = 0; r == 0 && i < 2; i++) /* never those of an earlier look */
        r = request(l, state[i], pve_cache_slot(&l->cache, state[i]), 0, err);
    if (r == -EPERM)
        return err_set(err, -EPERM,
                       "%s: %s lacks Sys.Audit on /: it does not see all of the cluster. Give it the role of "
                       "ballast-proxmox(7)",
                       pve_url(l->api), l->cfg->username);
    if (r == 0)
        r = pve_read_resources(pve_cache_slot(&l->cache, state[0])->data, a, view, err);
    if (r == 0)
        r = pve_read_status(pve_cache_slot(&l->cache, state[1])->data, a, view, err);
    return r;
}

/* Version 8 has groups, 9 rules; a cluster of both has either until its last node is upgraded. */
static int read_rules(struct pve_look *l, const struct pve_view *view, struct err *err)
{
    bool old = false, new = false, unknown = false;
    int r = 0;

    for (size_t i = 0; i < view->n_nodes; i++) {
        unsigned major = view->nodes[i].online ? pve_look_major(l, view->nodes[i].name) : 0;
        old = old || (major > 0 && major < 9);
        new = new || major >= 9;
        unknown = unknown || (view->nodes[i].local && major == 0);
    }
    if (new || unknown)
        r = request_needed(l, PVE_HA_RULES, err);
    if (r == -EOPNOTSUPP) { /* a node of version 8 answers */
        old = true;
        r = 0;
    }
    if (r == 0 && (old || unknown))
        r = request_needed(l, PVE_HA_GROUPS, err);
    return r == -EREMOTEIO && (new || unknown) ? 0 : r; /* they have been migrated to rules */
}

/* ---- the nodes and the guests ---- */

static bool is_slow(const struct pve_look *l, const char *node)
{
    return idmap_get(&l->slow_nodes, node) != NULL;
}

/* Of a node; one that does not answer is not asked again in this look. */
static void request_of_node(struct pve_look *l, const char *node, const char *path, struct pve_kept *k)
{
    struct pve_node_memory *m = pve_look_node_memory(l, node);
    struct err err = {0};
    int64_t left = pve_left_ms(l->api) / 4, most = m->hung ? HUNG_MOST_MS : NODE_MOST_MS;
    int r = request(l, path, k, most < left ? most : left, &err);
    bool hung = r == -EHOSTDOWN || r == -ETIMEDOUT;

    if (hung)
        *idmap_slot(&l->slow_nodes, node) = l;
    if (hung && !m->hung)
        log_warning("node %s does not answer, though the cluster calls it online: %s", node, err.text);
    m->hung = hung;
}

static void ask_node(struct pve_look *l, const char *node)
{
    char path[PATH_MAX_BYTES];
    unsigned asked = 0;

    for (;;) {
        unsigned major = pve_look_major(l, node);
        char next[PATH_MAX_BYTES] = "";
        struct pve_kept *of = NULL;
        double best = 0;

        for (size_t i = 0; i < sizeof of_node / sizeof of_node[0]; i++) {
            if (of_node[i].from > (major ? major : 8))
                continue;
            node_path(node, of_node[i].what, path);
            struct pve_kept *k = pve_cache_slot(&l->cache, path);
            double u = urgency(k, of_node[i].every_ms, l->now_ms);

            if (u > best && k->tried_ms < l->now_ms && (asked == 0 || k->tried_ms == 0)) {
                best = u;
                of = k;
                memcpy(next, path, sizeof next);
            }
        }
        if (!of || is_slow(l, node) || is_over(l))
            return;
        request_of_node(l, node, next, of);
        asked++;
    }
}

/* What a guest's configuration goes with: another print, and it is read again. */
static uint64_t print_of(const struct pve_guest *g)
{
    char numbers[96];

    (void)snprintf(numbers, sizeof numbers, "%.0f %.0f %d", g->maxcpu, g->maxmem,
                   strcmp(g->status, "running") == 0);
    return fingerprint_add(fingerprint_add(fingerprint_add(FINGERPRINT_NONE, g->name), numbers),
                           g->tags ? g->tags : "");
}

/* A request that a guest is due for. */
struct due {
    const struct pve_guest *guest;
    const char *what;
    struct pve_kept *of;
    double urgency;
};

static void consider(struct pve_look *l, const struct pve_guest *g, const char *what, bool changed,
                     struct due *list, size_t *n)
{
    char key[PATH_MAX_BYTES];

    guest_key(g, what, key);
    struct pve_kept *k = pve_cache_slot(&l->cache, key);
    k->changed = k->changed || changed;
    double u = urgency(k, CONFIG_EVERY_MS, l->now_ms);
    if (u > 0)
        list[(*n)++] = (struct due){g, what, k, u};
}

/* pvestatd takes memory only from guests with a minimum below their size, on a node that is full. */
static bool may_be_squeezed(const struct pve_look *l, const struct pve_node *node, const struct pve_guest *g)
{
    double least_mb = peer_json_number(pve_look_of_guest(l, g, PVE_CONFIG, PVE_CONFIG_MS), "balloon");

    return node && node->mem > PVE_SQUEEZES * node->maxmem && least_mb > 0 &&
           least_mb * BYTES_PER_MIB < g->maxmem;
}

static void consider_guest(struct pve_look *l, const struct pve_view *view, const struct pve_guest *g,
                           struct due *list, size_t *n)
{
    struct pve_guest_memory *m = pve_look_guest_memory(l, g->id);
    const struct pve_node *node = pve_find_node(view, g->node);
    uint64_t print = print_of(g);
    /* a process that is younger: another guest may have been given the VMID between two looks */
    bool changed = m->print != print || g->uptime < m->uptime;
    size_t before = *n;

    m->uptime = g->uptime;

    m->print = print;
    consider(l, g, PVE_CONFIG, changed, list, n);
    /* whether the balloon tells the use of its guest, and the memory taken */
    if ((pve_look_major(l, g->node) == 8 || may_be_squeezed(l, node, g)) && !g->container &&
        strcmp(g->status, "running") == 0)
        consider(l, g, PVE_CURRENT, changed, list, n);
    if (!node || !node->online || g->is_template)
        *n = before; /* what is known of it stays known */
}

static int by_urgency(const void *x, const void *y)
{
    const struct due *a = x, *b = y;

    return (a->urgency < b->urgency) - (a->urgency > b->urgency);
}

/* Configurations: those that were never read or have changed as long as the time lasts, and one more of each
 * node. */
static void ask_guests(struct pve_look *l, const struct pve_view *view, struct arena *a)
{
    struct due *list = arena_array(a, struct due, 2 * view->n_guests);
    int64_t enough_ms = pve_left_ms(l->api) * 2 / 3;
    struct idmap turn = {0}; /* nodes that had theirs */
    char path[PATH_MAX_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < view->n_guests; i++)
        consider_guest(l, view, &view->guests[i], list, &n);
    if (n > 0)
        qsort(list, n, sizeof *list, by_urgency);
    for (size_t i = 0; i < n && !is_over(l); i++) {
        const char *node = list[i].guest->node;
        bool new = list[i].urgency >= 1e9;

        if (is_slow(l, node) || pve_look_node_memory(l, node)->hung ||
            (new ? pve_left_ms(l->api) < enough_ms : idmap_get(&turn, node) != NULL))
            continue;
        *idmap_slot(&turn, node) = list;
        guest_path(list[i].guest, list[i].what, path);
        request_of_node(l, node, path, list[i].of);
    }
    idmap_release(&turn, NULL);
}

/* What is known of a node that is off stays known. */
static void retain(struct pve_look *l, const char *node)
{
    char path[PATH_MAX_BYTES];

    for (size_t i = 0; i < sizeof of_node / sizeof of_node[0]; i++) {
        node_path(node, of_node[i].what, path);
        (void)pve_cache_slot(&l->cache, path);
    }
}

static void ask_nodes(struct pve_look *l, const struct pve_view *view)
{
    for (size_t i = 0; i < view->n_nodes; i++) {
        retain(l, view->nodes[i].name);
        if (view->nodes[i].online && !is_over(l))
            ask_node(l, view->nodes[i].name);
    }
}

/* ---- the whole ---- */

/* Nothing of another cluster: an address that leads to one would mix them. */
static int check_cluster(const struct pve_look *l, const struct pve_view *view, struct err *err)
{
    if (!l->cfg->cluster || !view->cluster || strcmp(l->cfg->cluster, view->cluster) == 0)
        return 0;
    return err_set(err, -ENOENT, "%s: the cluster there is called %s, and source.cluster is %s",
                   pve_url(l->api), view->cluster, l->cfg->cluster);
}

/* In each look one of the addresses that are asked only when others do not answer: by then it would be late
 * to find that it is of another cluster. */
static void compare_next(struct pve_look *l)
{
    if (l->cfg->identities && pve_compare_address(l->api, l->compare_next++, COMPARE_MS, NULL) == -ENOENT)
        l->compare_next = 0;
}

int pve_look(struct pve_look *l, struct arena *a, struct pve_view *ret, struct err *err)
{
    struct pve_view view = {0};
    int r;

    pve_begin(l->api);
    l->now_ms = net_now_ms();
    idmap_release(&l->slow_nodes, NULL);
    l->slow_nodes = (struct idmap){0};
    if ((r = read_cluster(l, a, &view, err)) < 0 || (r = check_cluster(l, &view, err)) < 0)
        return r;
    if (view.n_guests < l->guests_before / 2) /* gone, or no longer to be seen? */
        pve_cache_slot(&l->cache, PVE_PERMISSIONS)->changed = true;
    if ((r = request_needed(l, PVE_OPTIONS, err)) < 0 || (r = request_needed(l, PVE_HA_RESOURCES, err)) < 0 ||
        (r = request_needed(l, PVE_HA_STATUS, err)) < 0 || (r = read_rules(l, &view, err)) < 0)
        return r;
    if (l->answers != pve_url(l->api)) /* a node tells of its own daemon of the QDevice only */
        pve_cache_slot(&l->cache, PVE_QDEVICE)->changed = true;
    l->answers = pve_url(l->api);
    ask_slow(l, PVE_CLUSTER_REQUESTS);
    if ((r = check_privileges(l, err)) < 0)
        return r;
    l->guests_before = view.n_guests;
    ask_nodes(l, &view);
    ask_guests(l, &view, a);
    pve_read_votes(pve_cache_get(&l->cache, PVE_VOTES, net_now_ms(), PVE_FACTS_MS), &view);
    compare_next(l);
    if (l->cfg->stop && atomic_load(l->cfg->stop))
        return err_set(err, -ECANCELED, "%s: cancelled, because the service stops", pve_url(l->api));
    l->now_ms = net_now_ms();
    pve_cache_sweep(&l->cache);
    idmap_keep(&l->guests, keep_guest, NULL);
    *ret = view;
    return 0;
}
