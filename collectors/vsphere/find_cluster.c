/* find_cluster.c: lists the clusters of a vCenter with their paths and chooses one. It reads nothing of the
 * cluster itself. */
#include "collectors/vsphere/find_cluster.h"

#include "base/cleanup.h"
#include "collectors/vsphere/vs_inventory.h"

#include <errno.h>
#include <string.h>

#define PAGE 1000
#define DEPTH_MAX 64   /* folders in folders; vCenter itself has no more than a few */
#define LISTED_MAX 200 /* bytes of an error that list clusters */

#define CLUSTER_ID "domain-c"

#define FOLDERS                                                                                              \
    "to find a cluster by its name or path, the user must be allowed to read the folders above the cluster " \
    "(role Read-only, without propagation); source.cluster may be the cluster's id (domain-c8) instead"

bool find_cluster_is_id(const char *wanted)
{
    const char *number = wanted + strlen(CLUSTER_ID);

    return strncmp(wanted, CLUSTER_ID, strlen(CLUSTER_ID)) == 0 && number[0] &&
           strspn(number, "0123456789") == strlen(number);
}

/* A folder, a datacenter or a cluster. */
struct place {
    const char *id, *parent;
    const char *raw;  /* the name as vCenter writes it, for paths */
    const char *name; /* the name as the user wrote it */
    bool is_cluster;
};

struct places {
    struct arena *a;
    struct place *items;
    size_t n, cap;
};

static void places_begin(void *ctx)
{
    struct places *l = ctx;

    l->items = NULL;
    l->n = l->cap = 0;
}

static int places_object(void *ctx, const struct vsphere_object *o, struct err *err)
{
    struct places *l = ctx;
    const char *raw = xml_text(vsphere_prop(o, "name"), l->a);

    (void)err;
    if (!raw || !raw[0])
        return 0;
    l->items = arena_grow(l->a, l->items, l->n, &l->cap, sizeof *l->items);
    l->items[l->n++] = (struct place){
        .id = arena_strdup(l->a, o->value),
        .parent = xml_text(vsphere_prop(o, "parent"), l->a),
        .raw = raw,
        .name = vs_inventory_name(vsphere_prop(o, "name"), l->a),
        .is_cluster = strcmp(o->type, "ClusterComputeResource") == 0,
    };
    return 0;
}

static int list_places(struct vsphere *v, struct places *ret, struct err *err)
{
    static const char *const paths[] = {"name", "parent", NULL};
    static const char *const first[] = {"children", "hosts", NULL};
    static const char *const again[] = {"children", "hosts", NULL};
    static const char *const only_children[] = {"children", NULL};
    static const struct vsphere_step steps[] = {{"children", "Folder", "childEntity", again},
                                                {"hosts", "Datacenter", "hostFolder", only_children}};
    static const struct vsphere_wanted wanted[] = {
        {"Folder", paths}, {"Datacenter", paths}, {"ClusterComputeResource", paths}};
    int r = vsphere_login(v, err);

    if (r < 0)
        return r;
    struct vsphere_query q = {.start_type = "Folder",
                              .start = vsphere_content(v)->root_folder,
                              .skip_start = true,
                              .wanted = wanted,
                              .n_wanted = sizeof wanted / sizeof wanted[0],
                              .steps = steps,
                              .n_steps = sizeof steps / sizeof steps[0],
                              .first = first,
                              .page = PAGE};
    struct vsphere_reader reader = {.begin = places_begin, .object = places_object, .ctx = ret};

    return vsphere_retrieve(v, &q, &reader, err);
}

static const struct place *find_place(const struct places *l, const char *id)
{
    for (size_t i = 0; id && i < l->n; i++) {
        if (strcmp(l->items[i].id, id) == 0)
            return &l->items[i];
    }
    return NULL;
}

/* From below the root folder, which is not in the list. */
static const char *path_of(const struct places *l, const struct place *p)
{
    const char *path = arena_printf(l->a, "/%s", p->raw);

    for (int depth = 0; depth < DEPTH_MAX && (p = find_place(l, p->parent)) != NULL; depth++)
        path = arena_printf(l->a, "/%s%s", p->raw, path);
    return path;
}

static bool is_meant(const struct places *l, const struct place *p, const char *wanted)
{
    if (!wanted || strcmp(p->name, wanted) == 0 || strcmp(p->id, wanted) == 0)
        return true;
    return wanted[0] == '/' && strcmp(path_of(l, p), wanted) == 0;
}

/* The paths of all clusters that are meant (wanted NULL: of all). */
static const char *paths_of(const struct places *l, const char *wanted)
{
    const char *all = "none";
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (!l->items[i].is_cluster || !is_meant(l, &l->items[i], wanted))
            continue;
        const char *path = path_of(l, &l->items[i]);
        if (n > 0 && strlen(all) + strlen(path) > LISTED_MAX)
            return arena_printf(l->a, "%s, ...", all);
        all = n++ == 0 ? path : arena_printf(l->a, "%s, %s", all, path);
    }
    return all;
}

static bool has_cluster(const struct places *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i].is_cluster)
            return true;
    }
    return false;
}

int find_cluster(struct vsphere *v, const char *wanted, char ret[CLUSTER_ID_MAX], struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct places l = {.a = &a};
    const char *found = NULL;
    size_t n = 0;

    if (wanted && !wanted[0])
        wanted = NULL;
    int r = list_places(v, &l, err);
    if (r == -EPERM && err)
        return err_set(err, r, "%s: " FOLDERS, vsphere_url(v));
    if (r < 0)
        return r;
    for (size_t i = 0; i < l.n; i++) {
        if (l.items[i].is_cluster && is_meant(&l, &l.items[i], wanted)) {
            found = l.items[i].id;
            n++;
        }
    }
    if (n > 1)
        return err_set(
            err, -EINVAL, "%s: %s: give the path of one of them as source.cluster (%s)", vsphere_url(v),
            wanted ? "several clusters have this name" : "there are several clusters", paths_of(&l, wanted));
    if (n == 0 && !has_cluster(&l))
        return err_set(err, -ENOENT, "%s: this user sees no cluster: " FOLDERS, vsphere_url(v));
    if (n == 0)
        return err_set(err, -ENOENT, "%s: there is no cluster %s that this user may see (there are: %s)",
                       vsphere_url(v), wanted, paths_of(&l, NULL));
    if (strlen(found) >= CLUSTER_ID_MAX)
        return err_set(err, -EPROTO, "%s: the cluster's id is too long", vsphere_url(v));
    memcpy(ret, found, strlen(found) + 1);
    return 0;
}

int find_cluster_list(struct vsphere *v, struct arena *a, struct cluster_place **ret, size_t *ret_n,
                      struct err *err)
{
    struct places l = {.a = a};
    size_t n = 0;
    int r = list_places(v, &l, err);

    if (r < 0)
        return r;
    *ret = arena_array(a, struct cluster_place, l.n);
    for (size_t i = 0; i < l.n; i++) {
        if (l.items[i].is_cluster)
            (*ret)[n++] = (struct cluster_place){path_of(&l, &l.items[i]), l.items[i].id};
    }
    *ret_n = n;
    return 0;
}
