/* left_hosts.c: completes an inventory by hosts that sleep: those that it does not list, and those that it
 * lists without their size. */
#include "engine/knowledge/left_hosts.h"

#include "base/cleanup.h"
#include "base/hardware_uuid.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "model/host_json.h"

#include <math.h>
#include <string.h>

static bool is_same_machine(const struct host_facts *x, const struct host_facts *y)
{
    struct hardware_uuid u, v;

    return hardware_uuid_parse(x->hardware_uuid, &u) == 0 && hardware_uuid_parse(y->hardware_uuid, &v) == 0 &&
           !hardware_uuid_is_placeholder(&u) && hardware_uuid_same(&u, &v);
}

/* A host that was added to the cluster again has another id at some managers. */
static bool is_replaced(const struct inventory *inv, const struct host_facts *f)
{
    for (size_t i = 0; i < inv->n_hosts; i++) {
        const struct host_facts *other = &inv->hosts[i].is;

        if ((f->name && other->name && strcmp(f->name, other->name) == 0) || is_same_machine(f, other))
            return true;
    }
    return false;
}

static bool has_running_vm(const struct inventory *inv, const char *host)
{
    for (size_t i = 0; i < inv->n_vms; i++) {
        const struct seen_vm *v = &inv->vms[i];

        if (v->host && v->is.state == VM_ON && strcmp(v->host, host) == 0)
            return true;
    }
    return false;
}

/* What was measured, and what the engine knows by now and fills in again. */
static void forget_the_past(struct host_facts *f, const struct host_record *r)
{
    f->mem_free_mb = UNKNOWN;
    f->power_w = UNKNOWN;
    f->on_since = f->standby_since = 0;
    f->woken = (struct woken){0};
    f->wake_failed_at = f->wake_failed_last = 0;
    f->wake_tries_s = UNKNOWN;
    f->power_fault = NULL;
    f->controller_doubted = false;
    f->failure_detection = FAILURE_DETECTION_UNKNOWN;
    if (!isnan(r->boot_s))
        f->boot_s = UNKNOWN;
}

/* A UUID that other hosts report, too, does not tell that one of them has taken the host's place. */
static bool shares_uuid(const struct host_facts *f, const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        if (strcmp(s->hosts[i].is.id, f->id) != 0 && is_same_machine(f, &s->hosts[i].is))
            return true;
    }
    return false;
}

/* s: in which it was read. */
static void set_facts(struct known_host *k, const struct host_facts *f, const struct snapshot *s)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;

    if (f) {
        struct host_facts kept = *f;

        if (shares_uuid(f, s))
            kept.hardware_uuid = NULL;
        host_json_write(&kept, &text);
    }
    xalloc_set_text(&k->r.facts, f ? text.text : NULL);
    xstrset(&k->name, f ? f->name : NULL);
    k->known.dirty = true;
}

/* ---- into the inventory ---------------------------------------------------------------------- */

/* Whether the record has changed. */
static bool add(struct known_host *k, const char *host, struct inventory *inv, struct arena *a)
{
    struct host_facts f;
    struct err err = {0};

    if (host_json_read(k->r.facts, a, &f, &err) < 0 || strcmp(f.id, host) != 0 || has_running_vm(inv, host))
        return false;
    if (is_replaced(inv, &f)) {
        k->r.standby_since = k->r.put_down = 0;
        k->state = host_state_count;
        set_facts(k, NULL, NULL);
        return true;
    }
    forget_the_past(&f, &k->r);
    f.state = HOST_STANDBY;
    f.disconnected_why = NULL;
    f.left_inventory = true;
    inventory_add_host(inv, a)->is = f;
    return false;
}

/* Listed, but never read since the source was begun: it was asleep all the time. */
static void fill_unread(const struct known_host *k, struct host_facts *f, struct arena *a)
{
    struct host_facts kept;
    struct err err = {0};

    if (host_json_read(k->r.facts, a, &kept, &err) < 0 || strcmp(kept.id, f->id) != 0)
        return;
    forget_the_past(&kept, &k->r);
    kept.name = f->name;
    kept.state = f->state;
    kept.disconnected_why = f->disconnected_why;
    *f = kept;
}

/* A host that was never read and may be on. */
static bool some_may_run_vms(const struct idmap *known, const struct inventory *inv)
{
    for (size_t i = 0; i < inv->n_hosts; i++) {
        const struct host_facts *f = &inv->hosts[i].is;
        const struct known_host *k = f->id ? idmap_get(known, f->id) : NULL;

        if (f->state == HOST_DISCONNECTED && f->cores == 0 && !(k && k->r.put_down > 0))
            return true;
    }
    return false;
}

/* VMs that are off, if they are: seen_vm.if_all_sleep. */
static void leave_out_doubtful(const struct idmap *known, struct inventory *inv)
{
    const bool unsure = some_may_run_vms(known, inv);
    size_t n = 0;

    for (size_t i = 0; i < inv->n_vms; i++) {
        if (!unsure || !inv->vms[i].if_all_sleep)
            inv->vms[n++] = inv->vms[i];
    }
    inv->n_vms = n;
}

bool left_hosts_add(const struct idmap *known, struct inventory *inv, struct arena *a)
{
    struct idmap listed = {0};
    bool any = false;

    leave_out_doubtful(known, inv);
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *f = &inv->hosts[i].is;
        const struct known_host *k = f->id ? idmap_get(known, f->id) : NULL;

        if (f->id)
            *idmap_slot(&listed, f->id) = inv;
        if (k && k->r.facts && f->state == HOST_DISCONNECTED && f->cores == 0)
            fill_unread(k, f, a);
    }
    for (size_t i = 0; i < known->cap; i++) {
        struct known_host *k = known->entries[i].value;
        const char *id = known->entries[i].key;

        if (id && k->r.facts && !idmap_get(&listed, id))
            any |= add(k, id, inv, a);
    }
    idmap_release(&listed, NULL);
    return any;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* What was known of hosts while they were on: a manager may know less of one that sleeps. */
static bool keep_of_those_that_were_on(const struct idmap *known, const struct snapshot *before,
                                       const struct snapshot *s)
{
    bool any = false;

    for (uint32_t i = 0; i < before->n_hosts; i++) {
        const struct host_facts *f = &before->hosts[i].is;
        struct known_host *k = idmap_get(known, f->id);
        uint32_t ix = snapshot_find_host(s, f->id);

        if (!k || !hosts_is_up(f->state) ||
            (ix == IX_NONE ? f->state != HOST_ENTERING_STANDBY : s->hosts[ix].is.state != HOST_STANDBY))
            continue;
        set_facts(k, f, before);
        any = true;
    }
    return any;
}

bool left_hosts_keep(const struct idmap *known, const struct snapshot *before, const struct snapshot *s)
{
    bool any = before && keep_of_those_that_were_on(known, before, s);

    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host_facts *f = &s->hosts[i].is;
        struct known_host *k = idmap_get(known, f->id);
        bool goes = f->state == HOST_ENTERING_STANDBY; /* this process may not see it arrive there */
        bool is_awake = (hosts_is_up(f->state) && !goes) || f->state == HOST_MAINTENANCE;

        if ((f->state == HOST_STANDBY || goes) && !k->r.facts)
            set_facts(k, f, s);
        else if (k->r.facts && is_awake)
            set_facts(k, NULL, NULL);
        else
            continue;
        any = true;
    }
    return any;
}

void left_hosts_recall(struct known_host *k)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct host_facts f;
    struct err err;

    if (k->r.facts && host_json_read(k->r.facts, &a, &f, &err) == 0)
        xstrset(&k->name, f.name);
}
