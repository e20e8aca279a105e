/* ground_truth.c: the true cluster as a snapshot, for metrics: nothing estimated, nothing missing. */
#include "sim/cluster/cluster_internal.h"

static void true_hosts(const struct cluster *c, struct arena *a, struct snapshot *s)
{
    s->hosts = arena_array(a, struct host, s->n_hosts);
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        struct host *h = &s->hosts[i];
        const struct index_list *vms = &c->hosts[i].vms;

        *h = *host_of(c, i);
        h->is.state = c->hosts[i].now.state;
        h->is.on_since = c->hosts[i].on_since;
        h->is.standby_since = c->hosts[i].standby_since;
        h->is.mem_free_mb = UNKNOWN; /* demand says what is wanted of it */
        h->vms = (struct span){.items = arena_copy(a, vms->items, vms->n, sizeof *vms->items), .n = vms->n};
    }
}

static void true_vms(const struct cluster *c, struct arena *a, struct snapshot *s)
{
    s->vms = arena_array(a, struct vm, s->n_vms);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm_sim *x = &c->vms[i];
        struct vm *v = &s->vms[i];
        bool runs = x->now.host != IX_NONE;

        *v = *vm_of(c, i);
        v->host = x->home;
        v->is.state = runs ? VM_ON : x->state == VM_SUSPENDED ? VM_SUSPENDED : VM_OFF;
        v->is.consumed_mb = x->consumed_mb;
        v->is.last_migrated = x->last_migrated;
        v->is.stable_s = UNKNOWN;
        for (int r = 0; r < RES_COUNT; r++)
            v->is.demand[r] = runs ? x->now.wants[r] : 0;
        vm_facts_windows(&v->is);
    }
}

static void true_migrations(const struct cluster *c, struct arena *a, struct snapshot *s)
{
    s->n_migrations = c->moving.n;
    s->migrations = arena_array(a, struct migration, c->moving.n);
    for (uint32_t i = 0; i < c->moving.n; i++) {
        uint32_t vm = c->moving.items[i];
        const struct moving *m = &c->vms[vm].moving;

        s->migrations[i] = (struct migration){
            .vm = vm, .from = m->from, .to = m->to, .started = c->s->start + (instant_s)m->begun_s};
    }
}

static void true_settings(const struct cluster *c, struct arena *a, struct snapshot *s)
{
    uint32_t n = 0;

    for (uint32_t h = 0; h < s->n_hosts; h++)
        n += c->hosts[h].n_parts;
    s->settings = arena_array(a, struct host_setting, n);
    s->n_settings = 0;
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        for (uint32_t i = 0; i < c->hosts[h].n_parts; i++) {
            const struct pool_part *p = &c->hosts[h].parts[i];

            s->settings[s->n_settings++] = (struct host_setting){
                .host = h, .pool = p->pool, .alloc = {p->alloc[RES_CPU], p->alloc[RES_MEM]}};
        }
    }
}

void cluster_truth(const struct cluster *c, struct arena *a, struct snapshot *ret)
{
    struct snapshot s = *c->initial;

    s.time = instant(c);
    s.pending = NULL;
    s.n_pending = 0;
    true_hosts(c, a, &s);
    true_vms(c, a, &s);
    true_migrations(c, a, &s);
    true_settings(c, a, &s);
    *ret = s;
}
