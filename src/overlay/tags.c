/* tags.c: from ProxLB's tags to rules. */
#include "overlay/tags.h"

#include "base/order.h"

#include <string.h>
#include <strings.h>

#define PREFIX "plb_"
#define PIN "plb_pin_"
#define IGNORE "plb_ignore_"

/* A tag of a VM. */
struct tagged {
    const char *tag;
    size_t vm; /* index in the inventory */
};

struct tags {
    struct tagged *items;
    size_t n, cap;
};

static int by_tag(const void *a, const void *b)
{
    const struct tagged *x = a;
    const struct tagged *y = b;
    int order = strcmp(x->tag, y->tag);

    return order != 0 ? order : (x->vm > y->vm) - (x->vm < y->vm);
}

static void collect(struct application *p, struct tags *ret)
{
    *ret = (struct tags){0};
    for (size_t i = 0; i < p->inv->n_vms; i++) {
        const struct labels *labels = &p->inv->vms[i].is.labels;

        for (uint32_t k = 0; k < labels->n; k++) {
            const char *tag;
            size_t at = 0, len;

            while (selector_next_tag(&labels->items[k], &at, &tag, &len)) {
                if (len <= strlen(PREFIX) || strncmp(tag, PREFIX, strlen(PREFIX)) != 0)
                    continue;
                ret->items = arena_grow(p->a, ret->items, ret->n, &ret->cap, sizeof *ret->items);
                ret->items[ret->n++] = (struct tagged){.tag = arena_strndup(p->a, tag, len), .vm = i};
            }
        }
    }
    order_sort(ret->items, ret->n, sizeof *ret->items, by_tag);
}

static bool begins_with(const char *tag, const char *prefix)
{
    return strncmp(tag, prefix, strlen(prefix)) == 0;
}

/* ---- affinity ---- */

/* Of the VMs from..to, which have the same tag, each once. */
static void add_vm_rule(struct application *p, const struct tags *t, size_t from, size_t to,
                        enum rule_kind kind)
{
    const char **vms = arena_array(p->a, const char *, to - from);
    uint32_t n = 0;

    for (size_t i = from; i < to; i++)
        if (i == from || t->items[i].vm != t->items[i - 1].vm)
            vms[n++] = p->inv->vms[t->items[i].vm].is.id;
    if (n > 1)
        application_add_rule(p, kind, RULE_OF_TAG, t->items[from].tag, p->o->proxlb_tags == PROXLB_MANDATORY)
            ->vms = (struct ids){.items = vms, .n = n};
}

/* ---- pins ---- */

/* Tags of Proxmox VE are in lower case, hosts' names need not be. */
static const char *host_of_pin(const struct inventory *inv, const char *tag)
{
    const char *name = tag + strlen(PIN);

    for (size_t i = 0; i < inv->n_hosts; i++) {
        const struct host_facts *h = &inv->hosts[i].is;

        if (h->id && (strcasecmp(h->id, name) == 0 || (h->name && strcasecmp(h->name, name) == 0)))
            return h->id;
    }
    return NULL;
}

/* The pins of one VM, as the name of its rule: VMs with the same pins share a rule. */
struct pinned {
    const char *name;
    struct ids hosts;
};

static void add_pin(struct application *p, struct pinned *vm, const char *tag, const char *host)
{
    const char **hosts = arena_array(p->a, const char *, vm->hosts.n + 1);

    for (uint32_t i = 0; i < vm->hosts.n; i++) {
        if (strcmp(vm->hosts.items[i], host) == 0) /* by its id and by its name */
            return;
        hosts[i] = vm->hosts.items[i];
    }
    hosts[vm->hosts.n] = host;
    vm->hosts = (struct ids){.items = hosts, .n = vm->hosts.n + 1};
    vm->name = vm->name ? arena_printf(p->a, "%s, %s", vm->name, tag) : tag;
}

static void add_pin_rules(struct application *p, const struct pinned *pins)
{
    bool *done = arena_array(p->a, bool, p->inv->n_vms);

    for (size_t i = 0; i < p->inv->n_vms; i++) {
        if (!pins[i].name || done[i])
            continue;
        const char **vms = arena_array(p->a, const char *, p->inv->n_vms - i);
        uint32_t n = 0;

        for (size_t k = i; k < p->inv->n_vms; k++) {
            if (!pins[k].name || done[k] || strcmp(pins[k].name, pins[i].name) != 0)
                continue;
            done[k] = true;
            vms[n++] = p->inv->vms[k].is.id;
        }
        struct seen_rule *rule = application_add_rule(p, RULE_HOST_AFFINE, RULE_OF_TAG, pins[i].name,
                                                      p->o->proxlb_tags == PROXLB_MANDATORY);

        rule->vms = (struct ids){.items = vms, .n = n};
        rule->hosts = pins[i].hosts;
    }
}

/* ---- all tags ---- */

static void set_mandatory_only(struct application *p, const struct tagged *t)
{
    struct vm_facts *vm = &p->inv->vms[t->vm].is;

    if (!vm->mandatory_only)
        vm->mandatory_only = arena_printf(p->a, "the tag %s", t->tag);
}

void tags_apply(struct application *p)
{
    struct pinned *pins = arena_array(p->a, struct pinned, p->inv->n_vms);
    struct tags t;

    collect(p, &t);
    for (size_t from = 0, to; from < t.n; from = to) {
        const char *tag = t.items[from].tag;
        const char *host = begins_with(tag, PIN) ? host_of_pin(p->inv, tag) : NULL;

        for (to = from; to < t.n && strcmp(t.items[to].tag, tag) == 0; to++) {
            if (host)
                add_pin(p, &pins[t.items[to].vm], tag, host);
            if (begins_with(tag, IGNORE))
                set_mandatory_only(p, &t.items[to]);
        }
        if (begins_with(tag, PIN) && !host)
            application_find(p, arena_printf(p->a, "the tag %s names no host", tag));
        if (begins_with(tag, "plb_affinity_"))
            add_vm_rule(p, &t, from, to, RULE_VM_AFFINE);
        if (begins_with(tag, "plb_anti_affinity_"))
            add_vm_rule(p, &t, from, to, RULE_VM_ANTI_AFFINE);
    }
    add_pin_rules(p, pins);
}
