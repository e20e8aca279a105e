/* vms_read.c: reads VMs to be powered on, and adds the new ones to the cluster. */
#include "model/vms_json.h"

#include "model/snapshot_build.h"
#include "model/snapshot_read.h"
#include "model/snapshot_to_inventory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct vm_reader {
    struct reader r;
    const struct snapshot *cluster;
    struct inventory inv; /* the cluster, then the new VMs */
    size_t *new_at;       /* new VM -> its index in the file */
    const char **ids;     /* in the file's order */
    size_t n;
    struct vms_to_place to_place;
};

static void note_ignored(struct vm_reader *v, enum vms_ignored what, size_t ix)
{
    if (v->to_place.ignored[what].n++ == 0)
        v->to_place.ignored[what].first = ix;
}

/* The object's "id"; the first field to be read, since it decides how the others are read. */
static int read_id(const struct vm_reader *v, const struct node *n, const char **ret)
{
    const struct node absent = node_absent(n, "id");
    const struct field id = {.type = FIELD_TEXT};

    if (n->kind != NODE_MAP)
        return reader_refuse(&v->r, n, "an object");
    if (!node_has(n, "id"))
        return reader_complain(&v->r, &absent, "missing, expected it in every vm");
    const struct node given = node_of_json(json_object_get(n->json, "id"), n, "id", 0);

    return reader_value(&v->r, &given, &id, ret);
}

static int check_known(struct vm_reader *v, const struct node *n, const struct vm *known)
{
    const struct node here = node_absent(n, "id");

    if (known->is.state == VM_ON)
        return reader_complain(
            &v->r, &here, "\"%s\" runs already, expected a VM that is off, suspended or new", known->is.id);
    if (n->n > 1)
        note_ignored(v, VMS_IGNORED_KNOWN, n->ix);
    return 0;
}

static bool is_given(const json_t *object, const char *in, const char *name)
{
    return json_object_get(json_object_get(object, in), name) != NULL;
}

/* Usage is unknown, as for a VM that was never on. */
static void forget_use(struct vm_facts *f)
{
    f->state = VM_OFF;
    f->demand_unknown = false;
    f->consumed_mb = f->mem_mb;
    f->sample_bad = NULL;
    f->sample_age_s = UNKNOWN;
    f->stable_s = UNKNOWN;
    f->dirty_mb_s = UNKNOWN;
    f->last_migrated = 0;
    for (int r = 0; r < RES_COUNT; r++) {
        f->demand[r] = 0;
        f->deviation[r] = UNKNOWN;
    }
    vm_facts_windows(f);
}

static int read_new(struct vm_reader *v, const struct node *n)
{
    const struct node host = node_absent(n, "host");
    const json_t *given = json_object_get(n->json, "host");

    if (given && !json_is_null(given))
        return reader_complain(&v->r, &host, "given, expected none: where the VM goes is what is asked");
    if (!node_has(n, "state"))
        json_object_set_new(n->json, "state", json_string(vm_state_name(VM_OFF)));
    v->new_at[v->inv.n_vms - v->cluster->n_vms] = n->ix;
    int rc = snapshot_read_vm(&v->r, n, &v->inv);
    if (rc < 0)
        return rc;
    struct vm_facts *f = &v->inv.vms[v->inv.n_vms - 1].is;
    if (f->state != VM_OFF)
        note_ignored(v, VMS_IGNORED_STATE, n->ix);
    if (is_given(n->json, "cpu", "demand") || is_given(n->json, "mem", "demand") ||
        is_given(n->json, "mem", "consumed") || node_has(n, "windows"))
        note_ignored(v, VMS_IGNORED_DEMAND, n->ix);
    forget_use(f);
    return 0;
}

static int read_objects(struct vm_reader *v, const struct node *document)
{
    struct node_walk w;
    int rc;

    if (document->kind != NODE_LIST)
        return reader_refuse(&v->r, document, "an array of VM objects");
    v->n = document->n;
    v->ids = arena_array(v->r.a, const char *, v->n);
    v->new_at = arena_array(v->r.a, size_t, v->n);
    for (const struct node *n = node_walk_first(&w, document); n; n = node_walk_next(&w)) {
        if ((rc = read_id(v, n, &v->ids[n->ix])) < 0)
            return rc;
        uint32_t known = snapshot_find_vm(v->cluster, v->ids[n->ix]);
        rc = known == IX_NONE ? read_new(v, n) : check_known(v, n, &v->cluster->vms[known]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

struct listed {
    const char *id;
    size_t ix;
};

static int by_id(const void *a, const void *b)
{
    const struct listed *x = a;
    const struct listed *y = b;
    int order = strcmp(x->id, y->id);

    return order != 0 ? order : (x->ix > y->ix) - (x->ix < y->ix);
}

static int check_twice(const struct vm_reader *v, const struct node *document)
{
    struct listed *sorted = arena_array(v->r.a, struct listed, v->n);

    for (size_t i = 0; i < v->n; i++)
        sorted[i] = (struct listed){v->ids[i], i};
    if (v->n > 0)
        qsort(sorted, v->n, sizeof *sorted, by_id);
    for (size_t i = 1; i < v->n; i++) {
        const struct node item = {.up = document, .ix = sorted[i].ix, .json = document->json};
        const struct node here = node_absent(&item, "id");
        if (strcmp(sorted[i].id, sorted[i - 1].id) == 0)
            return reader_complain(&v->r, &here, "\"%s\" is the id of /%zu already, expected another",
                                   sorted[i].id, sorted[i - 1].ix);
    }
    return 0;
}

/* An error of snapshot_build() has the VM's index in the cluster; the user needs the index in the file. Only
 * the new VMs can be wrong: the cluster was valid without them. */
static int build_snapshot(struct vm_reader *v)
{
    static const char vms[] = "/vms/";
    struct err *err = v->r.err;
    struct err inner = {0};
    char *rest;
    int rc = snapshot_build(&v->inv, v->r.a, &v->to_place.snap, &inner);

    if (rc == 0)
        return 0;
    if (strncmp(inner.text, vms, strlen(vms)) != 0)
        return err_set(err, rc, "%s", inner.text);
    size_t ix = strtoul(inner.text + strlen(vms), &rest, 10);
    assert(ix >= v->cluster->n_vms && ix < v->inv.n_vms);
    return err_set(err, rc, "/%zu%s", v->new_at[ix - v->cluster->n_vms], rest);
}

/* A VM of a fault-tolerant pair cannot be placed alone; a reference from one of the two is enough. */
static int check_pairs(const struct vm_reader *v, const struct node *document)
{
    const struct snapshot *s = &v->to_place.snap;

    for (size_t i = v->cluster->n_vms; i < v->inv.n_vms; i++) {
        const struct vm *vm = &s->vms[snapshot_find_vm(s, v->inv.vms[i].is.id)];
        const struct node item = {
            .up = document, .ix = v->new_at[i - v->cluster->n_vms], .json = document->json};
        const struct node here = node_absent(&item, "ft_peer");
        if ((vm->is.kind == VM_FT_PRIMARY || vm->is.kind == VM_FT_SECONDARY) && vm->ft_peer == IX_NONE)
            return reader_complain(&v->r, &here, "missing, expected the id of the other half of the pair");
    }
    return 0;
}

static int read_document(struct vm_reader *v, const struct node *document)
{
    int rc;

    snapshot_to_inventory(v->cluster, v->r.a, &v->inv);
    if ((rc = read_objects(v, document)) < 0 || (rc = check_twice(v, document)) < 0 ||
        (rc = build_snapshot(v)) < 0)
        return rc;
    v->to_place.n = (uint32_t)v->n;
    v->to_place.vms = arena_array(v->r.a, uint32_t, v->n);
    for (size_t i = 0; i < v->n; i++)
        v->to_place.vms[i] = snapshot_find_vm(&v->to_place.snap, v->ids[i]);
    return check_pairs(v, document);
}

int vms_read(const char *text, size_t len, const struct snapshot *cluster, struct arena *a,
             struct vms_to_place *ret, struct unknown_fields *unknown, struct err *err)
{
    struct vm_reader v = {.r = {.a = a, .unknown = unknown, .err = err}, .cluster = cluster};
    json_t *json;
    int rc = snapshot_read_json(&v.r, text, len, &json);

    if (rc < 0)
        return rc;
    const struct node document = node_of_json(json, NULL, NULL, 0);

    rc = read_document(&v, &document);
    json_decref(json);
    if (rc == 0)
        *ret = v.to_place;
    return rc;
}

const char *vms_json_ignored_text(const struct vms_to_place *v, enum vms_ignored what, struct arena *a)
{
    static const char *const texts[VMS_IGNORED_COUNT] = {
        [VMS_IGNORED_KNOWN] = "a VM of the snapshot, what else is said of it is ignored",
        [VMS_IGNORED_STATE] = "its state is ignored, a new VM is off until it is placed",
        [VMS_IGNORED_DEMAND] = "what it uses is ignored, a VM is placed as if it used all it can",
    };
    size_t n = v->ignored[what].n;

    if (n == 0)
        return NULL;
    if (n == 1)
        return arena_printf(a, "/%zu: %s", v->ignored[what].first, texts[what]);
    return arena_printf(a, "/%zu: %s (as in %zu more)", v->ignored[what].first, texts[what], n - 1);
}
