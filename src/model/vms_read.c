/* vms_read.c: reads VMs to be powered on, and adds the new ones to the cluster. */
#include "model/vms_json.h"

#include "base/order.h"
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
    size_t n, cap_new_at, cap_ids;
    struct err wrong; /* with the first VM that is; it waits until the file is known to be JSON */
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
    const struct node *given = node_child(n, "id");

    if (!given)
        return reader_complain(&v->r, &absent, "missing, expected it in every vm");
    return reader_value(&v->r, given, &id, ret);
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

static bool is_given(const struct node *object, const char *in, const char *name)
{
    const struct node *inner = node_child(object, in);

    return inner && node_has(inner, name);
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
        f->deviation[r] = f->rise[r] = UNKNOWN;
    }
    vm_facts_windows(f);
}

static int read_new(struct vm_reader *v, const struct node *n)
{
    const struct node *host = node_child(n, "host");
    const size_t n_new = v->inv.n_vms - v->cluster->n_vms;
    struct node with = *n;
    struct node state = {
        .kind = NODE_SCALAR, .json = true, .up = n, .key = "state", .text = vm_state_name(VM_OFF)};

    if (host && !node_is_null(host))
        return reader_complain(&v->r, host, "given, expected none: where the VM goes is what is asked");
    if (!node_has(n, "state")) {
        state.next = with.first;
        with.first = &state;
    }
    v->new_at = arena_grow(v->r.a, v->new_at, n_new, &v->cap_new_at, sizeof *v->new_at);
    v->new_at[n_new] = n->ix;
    int rc = snapshot_read_vm(&v->r, &with, &v->inv);
    if (rc < 0)
        return rc;
    struct vm_facts *f = &v->inv.vms[v->inv.n_vms - 1].is;
    if (f->state != VM_OFF)
        note_ignored(v, VMS_IGNORED_STATE, n->ix);
    if (is_given(n, "cpu", "demand") || is_given(n, "mem", "demand") || is_given(n, "mem", "consumed") ||
        node_has(n, "windows"))
        note_ignored(v, VMS_IGNORED_DEMAND, n->ix);
    forget_use(f);
    return 0;
}

static int read_vm(struct vm_reader *v, const struct node *n)
{
    const char *id;
    int rc = read_id(v, n, &id);

    if (rc < 0)
        return rc;
    v->ids = arena_grow(v->r.a, v->ids, v->n, &v->cap_ids, sizeof *v->ids);
    v->ids[v->n++] = id;
    uint32_t known = snapshot_find_vm(v->cluster, id);

    return known == IX_NONE ? read_new(v, n) : check_known(v, n, &v->cluster->vms[known]);
}

static bool is_vms(void *context, const struct node *list)
{
    (void)context;
    return !list->up;
}

static void read_entry(void *context, const struct node *n)
{
    struct vm_reader *v = context;

    if (v->wrong.code == 0)
        (void)read_vm(v, n);
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
    order_sort(sorted, v->n, sizeof *sorted, by_id);
    for (size_t i = 1; i < v->n; i++) {
        const struct node item = {.up = document, .ix = sorted[i].ix, .json = true};
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
        const struct node item = {.up = document, .ix = v->new_at[i - v->cluster->n_vms], .json = true};
        const struct node here = node_absent(&item, "ft_peer");
        if ((vm->is.kind == VM_FT_PRIMARY || vm->is.kind == VM_FT_SECONDARY) && vm->ft_peer == IX_NONE)
            return reader_complain(&v->r, &here, "missing, expected the id of the other half of the pair");
    }
    return 0;
}

static int check_all(struct vm_reader *v, const struct node *document)
{
    int rc;

    if (document->kind != NODE_LIST)
        return reader_refuse(&v->r, document, "an array of VM objects");
    if (v->wrong.code < 0)
        return err_set(v->r.err, v->wrong.code, "%s", v->wrong.text);
    if ((rc = check_twice(v, document)) < 0 || (rc = build_snapshot(v)) < 0)
        return rc;
    v->to_place.n = (uint32_t)v->n;
    v->to_place.vms = arena_array(v->r.a, uint32_t, v->n);
    for (size_t i = 0; i < v->n; i++)
        v->to_place.vms[i] = snapshot_find_vm(&v->to_place.snap, v->ids[i]);
    return check_pairs(v, document);
}

int vms_read_source(const struct json_source *source, const struct snapshot *cluster, struct arena *a,
                    struct vms_to_place *ret, struct unknown_fields *unknown, struct err *err)
{
    struct vm_reader v = {.r = {.a = a, .unknown = unknown}, .cluster = cluster};
    const struct json_entries entries = {.taken = is_vms, .entry = read_entry, .context = &v};
    struct node *document;

    v.r.err = &v.wrong;
    snapshot_to_inventory(cluster, a, &v.inv);
    int rc = json_tree_read(source, &entries, a, &document, err);

    v.r.err = err;
    if (rc == 0 && (rc = check_all(&v, document)) == 0)
        *ret = v.to_place;
    return rc;
}

int vms_read(const char *text, size_t len, const struct snapshot *cluster, struct arena *a,
             struct vms_to_place *ret, struct unknown_fields *unknown, struct err *err)
{
    const struct json_source source = {.text = text, .len = len, .most = SNAPSHOT_BYTES_MAX};

    return vms_read_source(&source, cluster, a, ret, unknown, err);
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
