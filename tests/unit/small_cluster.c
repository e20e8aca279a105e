#include "small_cluster.h"

#include "core/pass.h"
#include "model/snapshot_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1767225600

void small_init(struct small *s)
{
    *s = (struct small){.inv = {.cluster = "small", .time = NOW}};
    policy_default(&s->policy);
    s->policy.cost_benefit = false;
    s->policy.min_goodness = false;
    s->policy.moves_max = 0;
}

void small_release(struct small *s)
{
    arena_release(&s->a);
}

struct seen_host *small_host(struct small *s, const char *id, double cpu_mhz, double mem_mb)
{
    struct seen_host *h = inventory_add_host(&s->inv, &s->a);

    h->is.id = id;
    h->is.name = id;
    h->is.total[RES_CPU] = cpu_mhz;
    h->is.total[RES_MEM] = mem_mb;
    h->is.cores = 1; /* so that a VM of one vCPU can use all of it */
    return h;
}

struct seen_vm *small_vm(struct small *s, const char *id, const char *host, double cpu_mhz, double mem_mb)
{
    struct seen_vm *v = inventory_add_vm(&s->inv, &s->a);

    v->is.vcpus = 1;
    v->is.mem_mb = mem_mb;
    vm_facts_default(&v->is);
    v->is.id = id;
    v->is.name = id;
    v->is.state = VM_ON;
    v->is.demand[RES_CPU] = cpu_mhz;
    v->is.demand[RES_MEM] = mem_mb;
    v->is.consumed_mb = mem_mb;
    v->host = host;
    return v;
}

struct seen_pool *small_pool(struct small *s, const char *id, const char *parent)
{
    struct seen_pool *p = inventory_add_pool(&s->inv, &s->a);

    p->is.id = id;
    p->is.name = id;
    p->parent = parent;
    return p;
}

struct ids small_ids(struct small *s, const char *ids)
{
    const char **items = arena_array(&s->a, const char *, strlen(ids) + 1);
    uint32_t n = 0;

    for (size_t length; *ids != '\0'; ids += length + (ids[length] == ' ')) {
        length = strcspn(ids, " ");
        items[n++] = arena_strndup(&s->a, ids, length);
    }
    return (struct ids){.items = items, .n = n};
}

void small_rule(struct small *s, enum rule_kind kind, bool mandatory, const char *vms, const char *hosts)
{
    struct seen_rule *rule = inventory_add_rule(&s->inv, &s->a);

    rule_facts_default(&rule->is, kind);
    rule->is.id = arena_printf(&s->a, "r%zu", s->inv.n_rules);
    rule->is.name = rule->is.id;
    rule->is.mandatory = mandatory;
    rule->vms = small_ids(s, vms);
    rule->hosts = small_ids(s, hosts);
}

void small_migration(struct small *s, const char *vm, const char *from, const char *to)
{
    struct seen_migration *m = inventory_add_migration(&s->inv, &s->a);

    *m = (struct seen_migration){.vm = vm, .from = from, .to = to, .started = NOW};
}

void small_pending(struct small *s, const char *vm, const char *from, const char *to)
{
    struct seen_pending *p = inventory_add_pending(&s->inv, &s->a);

    *p = (struct seen_pending){.action = ACTION_MIGRATE, .vm = vm, .from = from, .to = to};
}

void small_build(struct small *s)
{
    struct err err = {0};

    for (size_t i = 0; i < s->inv.n_vms && !s->own_windows; i++)
        vm_facts_windows(&s->inv.vms[i].is);
    if (snapshot_build(&s->inv, &s->a, &s->snap, &err) < 0) {
        (void)fprintf(stderr, "the small cluster is invalid: %s\n", err.text);
        exit(1);
    }
}

const char *small_moves(struct small *s)
{
    struct err err = {0};
    const char *text = "";

    small_build(s);
    if (pass_run(&s->snap, &s->policy, &s->a, &s->plan, &err) < 0) {
        (void)fprintf(stderr, "no plan: %s\n", err.text);
        exit(1);
    }
    for (uint32_t i = 0; i < s->plan.n_recommendations; i++) {
        const struct recommendation *rec = &s->plan.recommendations[i];
        text = arena_printf(&s->a, "%s%s%s>%s", text, i > 0 ? " " : "", s->snap.vms[rec->vm].is.id,
                            s->snap.hosts[rec->to].is.id);
    }
    return text;
}

const char *small_faults(const struct small *s, struct arena *a)
{
    const char *text = "";

    for (uint32_t i = 0; i < s->plan.n_faults; i++) {
        const struct fault *f = &s->plan.faults[i];
        text = arena_printf(a, "%s%s%s:%s", text, i > 0 ? " " : "", fault_code_name(f->code),
                            f->vm == IX_NONE ? "-" : s->snap.vms[f->vm].is.id);
    }
    return text;
}

uint32_t small_vm_ix(const struct small *s, const char *id)
{
    return snapshot_find_vm(&s->snap, id);
}

uint32_t small_host_ix(const struct small *s, const char *id)
{
    return snapshot_find_host(&s->snap, id);
}
