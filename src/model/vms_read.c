#include "model/vms_json.h"

#include "model/freeze.h"
#include "model/object_read.h"
#include "model/thaw.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct vm_reader {
    struct reader r;
    const struct snapshot *cluster;
    struct inventory inv; /* the cluster, then the new VMs */
    size_t *new_at;       /* new VM -> where it stands in the file */
    const char **ids;     /* in the file's order */
    size_t n;
    struct vms_to_place to_place;
};

static void note_ignored(struct vm_reader *v, enum vms_ignored what, size_t ix)
{
    if (v->to_place.ignored[what].n++ == 0)
        v->to_place.ignored[what].first = ix;
}

/* The object's "id", found before anything else is asked of it. */
static int read_id(const struct vm_reader *v, const struct at *at, const json_t *object, const char **ret)
{
    const struct at here = {.up = at, .key = "id"};

    if (!json_is_object(object))
        return read_wrong_type(&v->r, at, object, "an object");
    const json_t *id = json_object_get(object, "id");
    if (!id)
        return read_complaint(&v->r, &here, "missing, expected it in every vm");
    if (!json_is_string(id))
        return read_wrong_type(&v->r, &here, id, "a string");
    *ret = arena_strdup(v->r.a, json_string_value(id));
    return 0;
}

static int check_known(struct vm_reader *v, const struct at *at, const json_t *object, const struct vm *known)
{
    const struct at here = {.up = at, .key = "id"};

    if (known->is.state == VM_ON)
        return read_complaint(
            &v->r, &here, "\"%s\" runs already, expected a VM that is off, suspended or new", known->is.id);
    if (json_object_size(object) > 1)
        note_ignored(v, VMS_IGNORED_KNOWN, at->ix);
    return 0;
}

static bool is_given(const json_t *object, const char *in, const char *name)
{
    return json_object_get(json_object_get(object, in), name) != NULL;
}

/* Nothing is known yet of what it uses: as for any VM that is off, and that was never on. */
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
    for (int r = 0; r < RES_COUNT; r++)
        f->demand[r] = 0;
    vm_facts_windows(f);
}

static int read_new(struct vm_reader *v, const struct at *at, json_t *object)
{
    const struct at host = {.up = at, .key = "host"};
    const json_t *given = json_object_get(object, "host");

    if (given && !json_is_null(given))
        return read_complaint(&v->r, &host, "given, expected none: where the VM goes is what is asked");
    if (!json_object_get(object, "state"))
        json_object_set_new(object, "state", json_string(vm_state_name(VM_OFF)));
    v->new_at[v->inv.n_vms - v->cluster->n_vms] = at->ix;
    int rc = read_vm(&v->r, at, object, &v->inv);
    if (rc < 0)
        return rc;
    struct vm_facts *f = &v->inv.vms[v->inv.n_vms - 1].is;
    if (f->state != VM_OFF)
        note_ignored(v, VMS_IGNORED_STATE, at->ix);
    if (is_given(object, "cpu", "demand") || is_given(object, "mem", "demand") ||
        is_given(object, "mem", "consumed") || json_object_get(object, "windows"))
        note_ignored(v, VMS_IGNORED_DEMAND, at->ix);
    forget_use(f);
    return 0;
}

static int read_objects(struct vm_reader *v, json_t *document)
{
    const struct at root = {0};
    int rc;

    if (!json_is_array(document))
        return read_wrong_type(&v->r, &root, document, "an array of VM objects");
    v->n = json_array_size(document);
    v->ids = arena_array(v->r.a, const char *, v->n);
    v->new_at = arena_array(v->r.a, size_t, v->n);
    for (size_t i = 0; i < v->n; i++) {
        const struct at item = {.up = &root, .ix = i};
        json_t *object = json_array_get(document, i);
        if ((rc = read_id(v, &item, object, &v->ids[i])) < 0)
            return rc;
        uint32_t known = snapshot_find_vm(v->cluster, v->ids[i]);
        rc = known == IX_NONE ? read_new(v, &item, object)
                              : check_known(v, &item, object, &v->cluster->vms[known]);
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

static int check_twice(const struct vm_reader *v)
{
    const struct at root = {0};
    struct listed *sorted = arena_array(v->r.a, struct listed, v->n);

    for (size_t i = 0; i < v->n; i++)
        sorted[i] = (struct listed){v->ids[i], i};
    if (v->n > 0)
        qsort(sorted, v->n, sizeof *sorted, by_id);
    for (size_t i = 1; i < v->n; i++) {
        const struct at item = {.up = &root, .ix = sorted[i].ix};
        const struct at here = {.up = &item, .key = "id"};
        if (strcmp(sorted[i].id, sorted[i - 1].id) == 0)
            return read_complaint(&v->r, &here, "\"%s\" is the id of /%zu already, expected another",
                                  sorted[i].id, sorted[i - 1].ix);
    }
    return 0;
}

/* Freezing counts the VMs of the whole cluster; who wrote the file counts in the file. Only the new ones can
 * be wrong: the cluster was good without them. */
static int freeze(struct vm_reader *v)
{
    static const char vms[] = "/vms/";
    struct err *err = v->r.err;
    struct err inner = {0};
    char *rest;
    int rc = snapshot_freeze(&v->inv, v->r.a, &v->to_place.snap, &inner);

    if (rc == 0)
        return 0;
    if (strncmp(inner.text, vms, strlen(vms)) != 0)
        return err_set(err, rc, "%s", inner.text);
    size_t ix = strtoul(inner.text + strlen(vms), &rest, 10);
    assert(ix >= v->cluster->n_vms && ix < v->inv.n_vms);
    return err_set(err, rc, "/%zu%s", v->new_at[ix - v->cluster->n_vms], rest);
}

/* Half of a pair cannot be placed by the other half's rule; that one of the two names the other is enough. */
static int check_pairs(const struct vm_reader *v)
{
    const struct snapshot *s = &v->to_place.snap;
    const struct at root = {0};

    for (size_t i = v->cluster->n_vms; i < v->inv.n_vms; i++) {
        const struct vm *vm = &s->vms[snapshot_find_vm(s, v->inv.vms[i].is.id)];
        const struct at item = {.up = &root, .ix = v->new_at[i - v->cluster->n_vms]};
        const struct at here = {.up = &item, .key = "ft_peer"};
        if ((vm->is.kind == VM_FT_PRIMARY || vm->is.kind == VM_FT_SECONDARY) && vm->ft_peer == IX_NONE)
            return read_complaint(&v->r, &here, "missing, expected the id of the other half of the pair");
    }
    return 0;
}

static int read_document(struct vm_reader *v, json_t *document)
{
    int rc;

    snapshot_thaw(v->cluster, v->r.a, &v->inv);
    if ((rc = read_objects(v, document)) < 0 || (rc = check_twice(v)) < 0 || (rc = freeze(v)) < 0)
        return rc;
    v->to_place.n = (uint32_t)v->n;
    v->to_place.vms = arena_array(v->r.a, uint32_t, v->n);
    for (size_t i = 0; i < v->n; i++)
        v->to_place.vms[i] = snapshot_find_vm(&v->to_place.snap, v->ids[i]);
    return check_pairs(v);
}

int vms_read(const char *text, size_t len, const struct snapshot *cluster, struct arena *a,
             struct vms_to_place *ret, struct unknown_fields *unknown, struct err *err)
{
    struct vm_reader v = {.r = {.a = a, .unknown = unknown, .err = err}, .cluster = cluster};
    json_t *document;
    int rc = read_json(&v.r, text, len, &document);

    if (rc < 0)
        return rc;
    rc = read_document(&v, document);
    json_decref(document);
    if (rc == 0)
        *ret = v.to_place;
    return rc;
}

const char *vms_ignored_text(const struct vms_to_place *v, enum vms_ignored what, struct arena *a)
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
