/* vm_stops.c: notes when and where each VM was last seen to run, and those that went down with a host. */
#include "engine/knowledge/vm_stops.h"

#include "base/cleanup.h"
#include "base/texts.h"
#include "base/xalloc.h"
#include "engine/knowledge/hosts.h"

#include <stdlib.h>
#include <string.h>

#define NOTE_PREFIX "went_down/" /* and the VM's id: the host's name, a line feed, the VM's name */
#define NAMED_MAX 5

struct vm_stops {
    struct known_map vms;
};

struct vm_stop {
    struct known_entry known;
    instant_s on;    /* when it was last seen to run; 0: it was off since, or went down */
    char *host;      /* id, where that was; NULL: not known */
    char *down_with; /* the name of the host that it went down with; NULL: it did not */
    char *name;      /* with down_with */
};

static void stop_free(void *entry)
{
    struct vm_stop *x = entry;

    free(x->host);
    free(x->down_with);
    free(x->name);
    free(x);
}

static void *find_or_make(void *piece, const char *vm)
{
    struct vm_stops *all = piece;

    return idmap_make(&all->vms.of, vm, sizeof(struct vm_stop));
}

/* ---- what is seen ---- */

static void set_down(struct vm_stops *all, struct vm_stop *x, const char *host, const char *name)
{
    xstrset(&x->down_with, host);
    xstrset(&x->name, name);
    knowledge_touch(&all->vms, &x->known);
}

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct vm_stops *all = piece;

    (void)c, (void)a;
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];

        if (v->host == IX_NONE || !hosts_is_up(s->hosts[v->host].is.state) || v->is.kind == VM_AGENT)
            continue; /* an agent goes down with its host */
        const char *host = s->hosts[v->host].is.id;
        struct vm_stop *x =
            v->is.state == VM_ON ? find_or_make(all, v->is.id) : idmap_get(&all->vms.of, v->is.id);

        if (!x)
            continue;
        x->on = v->is.state == VM_ON ? s->time : 0;
        if (!x->host || strcmp(x->host, host) != 0)
            xstrset(&x->host, host);
        if (x->down_with && v->is.state == VM_ON)
            set_down(all, x, NULL, NULL);
    }
}

static const char *add_name(const char *names, const char *name, uint32_t n, struct arena *a)
{
    return n > NAMED_MAX ? names : names ? arena_printf(a, "%s, %s", names, name) : arena_strdup(a, name);
}

struct search {
    struct vm_stops *all;
    const struct snapshot *s;
    const char *host, *names;
    instant_s since;
    struct arena *a;
    uint32_t ix, n;
};

static bool look_at(const char *vm, void *value, void *ctx)
{
    struct search *q = ctx;
    struct vm_stop *x = value;
    const uint32_t ix = snapshot_find_vm(q->s, vm);
    const bool there = ix != IX_NONE && q->s->vms[ix].host == q->ix;
    const bool gone = ix == IX_NONE && x->host && strcmp(x->host, q->host) == 0;

    if (x->on < q->since || x->on == 0 || x->down_with || (!there && !gone))
        return true;
    const char *name = ix == IX_NONE ? vm : q->s->vms[ix].is.name;

    x->on = 0;
    q->names = add_name(q->names, name, ++q->n, q->a);
    set_down(q->all, x, q->s->hosts[q->ix].is.name, name);
    return true;
}

const char *vm_stops_find(struct vm_stops *all, const struct snapshot *s, const char *host, instant_s since,
                          struct arena *a, uint32_t *ret_n)
{
    struct search q = {.all = all, .s = s, .host = host, .since = since, .a = a};

    q.ix = snapshot_find_host(s, host);
    if (q.ix != IX_NONE)
        idmap_keep(&all->vms.of, look_at, &q);
    *ret_n = q.n;
    return q.n > NAMED_MAX ? arena_printf(a, "%s and %u more", q.names, q.n - NAMED_MAX) : q.names;
}

void vm_stops_settle(const struct vm_stops *all, struct inventory *inv,
                     bool (*is_ours)(const struct engine *e, const char *host), const struct engine *e)
{
    CLEANUP(idmap_releasep) struct idmap down = {0}; /* id -> the host */

    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *f = &inv->hosts[i].is;

        if (f->id && (f->state == HOST_DISCONNECTED || (f->state == HOST_STANDBY && is_ours(e, f->id))))
            *idmap_slot(&down, f->id) = f;
    }
    for (size_t i = 0; down.n > 0 && i < inv->n_vms; i++) {
        struct vm_facts *v = &inv->vms[i].is;
        const struct host_facts *f =
            v->state == VM_ON && v->id && inv->vms[i].host ? idmap_get(&down, inv->vms[i].host) : NULL;
        const struct vm_stop *x = f ? idmap_get(&all->vms.of, v->id) : NULL;

        if (!f || (f->state != HOST_STANDBY && !(x && x->down_with)))
            continue;
        v->state = VM_OFF;
        v->demand[RES_CPU] = v->demand[RES_MEM] = 0;
        v->demand_unknown = false;
        vm_facts_windows(v);
        inv->vms[i].sample.present = false;
    }
}

/* ---- the fault ---- */

struct filling {
    struct inventory *inv;
    struct arena *a;
};

static bool add_fault(const char *vm, void *value, void *ctx)
{
    const struct vm_stop *x = value;
    const struct filling *f = ctx;

    (void)vm;
    if (x->down_with)
        inventory_add_fault(
            f->inv,
            arena_printf(f->a,
                         "VM %s went down with host %s, which was put to standby although the "
                         "VM had come to it; it does not run again yet",
                         x->name, x->down_with),
            f->a);
    return true;
}

static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    struct vm_stops *all = piece;

    (void)c;
    idmap_keep(&all->vms.of, add_fault, &(struct filling){inv, a});
}

/* ---- the store ---- */

static int entry_persist(const char *vm, const void *entry, const struct store_ops *ops, struct store *s,
                         struct err *err)
{
    const struct vm_stop *x = entry;
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct note note = {arena_printf(&a, NOTE_PREFIX "%s", vm),
                              x->down_with ? arena_printf(&a, "%s\n%s", x->down_with, x->name) : NULL};
    const struct record record = {RECORD_NOTE, .note = &note};

    return x->down_with && !x->known.gone ? ops->put(s, &record, err) : ops->forget(s, &record, err);
}

/* When they ran is known from their samples, which are stored anyway. */
static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct vm_stops *all = piece;

    for (size_t i = 0; i < s->n_samples; i++) {
        struct vm_stop *x = s->samples[i].time <= now ? find_or_make(all, s->samples[i].vm) : NULL;

        if (x)
            x->on = s->samples[i].time;
    }
    for (size_t i = 0; i < s->n_notes; i++) {
        const char *vm = texts_after(NOTE_PREFIX, s->notes[i].key);
        const char *name = vm ? strchr(s->notes[i].value, '\n') : NULL;
        struct vm_stop *x = name ? find_or_make(all, vm) : NULL;

        if (!x)
            continue;
        xstrset(&x->name, name + 1);
        xstrset(&x->down_with, s->notes[i].value);
        x->down_with[name - s->notes[i].value] = '\0';
        x->on = 0;
    }
}

/* Of what is stored it forgets nothing: that is a fault until the VM runs. */
static bool is_recent(const char *vm, void *value, void *before)
{
    const struct vm_stop *x = value;

    (void)vm;
    if (x->down_with || x->known.dirty || x->on >= *(const instant_s *)before)
        return true;
    stop_free(value);
    return false;
}

static void forget(void *piece, const struct retention *keep, instant_s now)
{
    struct vm_stops *all = piece;
    instant_s before = keep->samples_before;

    (void)now;
    idmap_keep(&all->vms.of, is_recent, &before);
}

const struct knowledge_ops vm_stops_ops = {
    .size = sizeof(struct vm_stops),
    .entry_free = stop_free,
    .entry_persist = entry_persist,
    .fill = fill,
    .observe = observe,
    .recall = recall,
    .note_prefix = NOTE_PREFIX,
    .entry_make = find_or_make,
    .forget = forget,
};
