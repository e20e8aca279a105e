/* compatibility.c: compares what hosts offer with what VMs need, by name. */
#include "model/compatibility.h"

#include "base/order.h"
#include "model/attributes.h"
#include "model/numa.h"
#include "model/quantities.h"

#include <stdlib.h>
#include <string.h>

/* Sorted, as labels are. Most sources give sorted lists: those are not copied. */
static int sort_names(const struct place *at, const char *field, struct ids *names, struct arena *a)
{
    uint32_t i = 1;

    while (i < names->n && strcmp(names->items[i - 1], names->items[i]) < 0)
        i++;
    if (i >= names->n)
        return 0;
    const char **items = arena_copy(a, names->items, names->n, sizeof *items);

    qsort(items, names->n, sizeof *items, order_texts);
    for (i = 1; i < names->n; i++)
        if (strcmp(items[i - 1], items[i]) == 0)
            return inventory_check_refuse(at, field, "\"%s\" is listed twice, expected once", items[i]);
    names->items = items;
    return 0;
}

int compatibility_sort_host(const struct place *at, struct host_facts *h, struct arena *a)
{
    int r;

    if ((r = sort_names(at, "networks", &h->networks.names, a)) < 0 ||
        (r = sort_names(at, "datastores", &h->datastores.names, a)) < 0 ||
        (r = sort_names(at, "devices", &h->devices.names, a)) < 0)
        return r;
    if ((r = sort_names(at, "traits", &h->traits, a)) < 0 ||
        (r = attributes_sort(at, "attributes", &h->attributes, a)) < 0 ||
        (r = quantities_sort(at, &h->quantities, a)) < 0 || (r = numa_sort_host(at, h, a)) < 0)
        return r;
    return sort_names(at, "cpu_modes", &h->cpu_modes.names, a);
}

int compatibility_sort_vm(const struct place *at, struct vm_facts *v, struct arena *a)
{
    int r;

    if ((r = sort_names(at, "networks", &v->networks, a)) < 0 ||
        (r = sort_names(at, "datastores", &v->datastores, a)) < 0 ||
        (r = sort_names(at, "groups", &v->groups, a)) < 0)
        return r;
    if ((r = attributes_sort(at, "flavor", &v->flavor, a)) < 0 ||
        (r = attributes_sort(at, "image", &v->image, a)) < 0 ||
        (r = attributes_sort(at, "hints", &v->hints, a)) < 0 || (r = numa_sort_vm(at, v, a)) < 0)
        return r;
    return sort_names(at, "devices", &v->devices, a);
}

/* ---- names, one by one ---- */

/* A single word as a list. */
static struct ids one_name(const char *const *name)
{
    return (struct ids){.items = name, .n = *name != NULL};
}

static struct ids needs_of(const struct vm_facts *v, enum offer_kind kind)
{
    switch (kind) {
    case OFFER_NETWORK:
        return v->networks;
    case OFFER_DATASTORE:
        return v->datastores;
    case OFFER_DEVICE:
        return v->devices;
    case OFFER_CPU_VENDOR:
        return one_name(&v->cpu_vendor);
    case OFFER_CPU_MODE:
        return one_name(&v->cpu_mode);
    case offer_kind_count:
        break;
    }
    return (struct ids){0};
}

static struct offer offer_of(const struct host_facts *h, enum offer_kind kind)
{
    switch (kind) {
    case OFFER_NETWORK:
        return h->networks;
    case OFFER_DATASTORE:
        return h->datastores;
    case OFFER_DEVICE:
        return h->devices;
    case OFFER_CPU_VENDOR:
        return (struct offer){one_name(&h->cpu_vendor), h->cpu_vendor != NULL};
    case OFFER_CPU_MODE:
        return h->cpu_modes;
    case offer_kind_count:
        break;
    }
    return (struct offer){0};
}

uint32_t compatibility_missing(const struct vm_facts *v, const struct host_facts *h, struct missing *ret,
                               uint32_t most)
{
    uint32_t n = 0;

    for (int kind = 0; kind < offer_kind_count; kind++) {
        struct ids needs = needs_of(v, (enum offer_kind)kind);
        struct offer offer = offer_of(h, (enum offer_kind)kind);
        uint32_t at = 0;

        for (uint32_t i = 0; offer.known && i < needs.n; i++) { /* both are sorted */
            while (at < offer.names.n && strcmp(offer.names.items[at], needs.items[i]) < 0)
                at++;
            if (at < offer.names.n && strcmp(offer.names.items[at], needs.items[i]) == 0)
                continue;
            if (n < most)
                ret[n] = (struct missing){(enum offer_kind)kind, needs.items[i]};
            n++;
        }
    }
    return n;
}

/* ---- all VMs and hosts at once ---- */

/* A name that some VM needs, and the hosts that offer it. */
struct needed {
    const char *name;
    enum offer_kind kind;
    uint64_t *hosts;
};

/* VMs whose needs are the same numbers of needed names. */
struct needs_class {
    const uint32_t *names; /* in the order of OFFER_KINDS, then by name */
    uint32_t n;
    const uint64_t *hosts; /* NULL: all */
};

/* Open addressing; a power of two of slots, at most half full. A slot holds a number + 1; 0: it is free. */
struct table {
    uint32_t *slots;
    size_t size, used;
};

struct compiler {
    struct snapshot *s;
    struct arena *a;
    uint32_t words; /* of a bitmap of hosts */
    struct needed *needed;
    size_t n_needed, cap_needed;
    struct needs_class *classes;
    size_t n_classes, cap_classes;
    struct table by_name, by_needs;
};

#define TABLE_LEAST 64
#define HASH_START 14695981039346656037u /* FNV-1a, 64 bits */
#define HASH_FACTOR 1099511628211u

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * HASH_FACTOR;
    return h;
}

static uint64_t hash_name(enum offer_kind kind, const char *name)
{
    unsigned char k = (unsigned char)kind;

    return hash_bytes(hash_bytes(HASH_START, &k, 1), name, strlen(name));
}

static uint64_t hash_numbers(const uint32_t *numbers, uint32_t n)
{
    return hash_bytes(HASH_START, numbers, n * sizeof *numbers);
}

static void table_put(struct table *t, uint64_t hash, uint32_t number)
{
    size_t at = hash & (t->size - 1);

    while (t->slots[at] != 0)
        at = (at + 1) & (t->size - 1);
    t->slots[at] = number + 1;
    t->used++;
}

/* Makes room for one more; true: the table is new and empty, its content must be put again. */
static bool table_grow(struct table *t, struct arena *a)
{
    if (t->used * 2 < t->size)
        return false;
    t->size = t->size ? t->size * 2 : TABLE_LEAST;
    t->slots = arena_array(a, uint32_t, t->size);
    t->used = 0;
    return true;
}

/* The number of the needed name; IX_NONE: no VM needs it. */
static uint32_t find_needed(const struct compiler *c, enum offer_kind kind, const char *name)
{
    const struct table *t = &c->by_name;

    for (size_t at = hash_name(kind, name) & (t->size - 1); t->slots[at] != 0;
         at = (at + 1) & (t->size - 1)) {
        const struct needed *x = &c->needed[t->slots[at] - 1];
        if (x->kind == kind && strcmp(x->name, name) == 0)
            return t->slots[at] - 1;
    }
    return IX_NONE;
}

static uint32_t add_needed(struct compiler *c, enum offer_kind kind, const char *name)
{
    if (table_grow(&c->by_name, c->a))
        for (uint32_t i = 0; i < c->n_needed; i++)
            table_put(&c->by_name, hash_name(c->needed[i].kind, c->needed[i].name), i);
    uint32_t found = find_needed(c, kind, name);

    if (found != IX_NONE)
        return found;
    c->needed = arena_grow(c->a, c->needed, c->n_needed, &c->cap_needed, sizeof *c->needed);
    c->needed[c->n_needed] =
        (struct needed){.name = name, .kind = kind, .hosts = arena_array(c->a, uint64_t, c->words)};
    table_put(&c->by_name, hash_name(kind, name), (uint32_t)c->n_needed);
    return (uint32_t)c->n_needed++;
}

static uint32_t class_of(struct compiler *c, const uint32_t *names, uint32_t n)
{
    struct table *t = &c->by_needs;

    if (table_grow(t, c->a))
        for (uint32_t i = 0; i < c->n_classes; i++)
            table_put(t, hash_numbers(c->classes[i].names, c->classes[i].n), i);
    for (size_t at = hash_numbers(names, n) & (t->size - 1); t->slots[at] != 0;
         at = (at + 1) & (t->size - 1)) {
        const struct needs_class *x = &c->classes[t->slots[at] - 1];
        if (x->n == n && memcmp(x->names, names, n * sizeof *names) == 0)
            return t->slots[at] - 1;
    }
    const uint32_t *kept = arena_copy(c->a, names, n, sizeof *names);

    c->classes = arena_grow(c->a, c->classes, c->n_classes, &c->cap_classes, sizeof *c->classes);
    c->classes[c->n_classes] = (struct needs_class){.names = kept, .n = n};
    table_put(t, hash_numbers(names, n), (uint32_t)c->n_classes);
    return (uint32_t)c->n_classes++;
}

/* The class of each VM; IX_NONE: it needs nothing. */
static uint32_t *sort_vms(struct compiler *c)
{
    uint32_t *class = arena_array(c->a, uint32_t, c->s->n_vms);
    uint32_t *names = NULL;
    size_t cap = 0;

    for (uint32_t i = 0; i < c->s->n_vms; i++) {
        uint32_t n = 0;

        for (int kind = 0; kind < offer_kind_count; kind++) {
            struct ids needs = needs_of(&c->s->vms[i].is, (enum offer_kind)kind);

            for (uint32_t k = 0; k < needs.n; k++) {
                names = arena_grow(c->a, names, n, &cap, sizeof *names);
                names[n++] = add_needed(c, (enum offer_kind)kind, needs.items[k]);
            }
        }
        class[i] = n > 0 ? class_of(c, names, n) : IX_NONE;
    }
    return class;
}

static void set_host(uint64_t *bits, uint32_t host)
{
    bits[host / 64] |= (uint64_t)1 << (host % 64);
}

/* The hosts that offer each needed name. */
static void mark_offers(struct compiler *c)
{
    uint64_t *unknown[offer_kind_count]; /* hosts of which it is not known */

    for (int kind = 0; kind < offer_kind_count; kind++)
        unknown[kind] = arena_array(c->a, uint64_t, c->words);
    for (uint32_t h = 0; h < c->s->n_hosts; h++) {
        for (int kind = 0; kind < offer_kind_count; kind++) {
            struct offer offer = offer_of(&c->s->hosts[h].is, (enum offer_kind)kind);

            if (!offer.known)
                set_host(unknown[kind], h);
            for (uint32_t i = 0; offer.known && i < offer.names.n; i++) {
                uint32_t needed = find_needed(c, (enum offer_kind)kind, offer.names.items[i]);
                if (needed != IX_NONE)
                    set_host(c->needed[needed].hosts, h);
            }
        }
    }
    for (size_t i = 0; i < c->n_needed; i++)
        for (uint32_t w = 0; w < c->words; w++)
            c->needed[i].hosts[w] |= unknown[c->needed[i].kind][w];
}

static void mark_class(struct compiler *c, struct needs_class *x)
{
    uint64_t *hosts = arena_array(c->a, uint64_t, c->words);
    uint64_t lacking = 0;

    for (uint32_t w = 0; w < c->words; w++) {
        uint64_t all = w + 1 < c->words || c->s->n_hosts % 64 == 0
                           ? UINT64_MAX
                           : ((uint64_t)1 << (c->s->n_hosts % 64)) - 1;
        hosts[w] = all;
        for (uint32_t i = 0; i < x->n; i++)
            hosts[w] &= c->needed[x->names[i]].hosts[w];
        lacking |= hosts[w] ^ all;
    }
    x->hosts = lacking ? hosts : NULL;
}

void compatibility_compile(struct snapshot *s, struct arena *a)
{
    struct compiler c = {.s = s, .a = a, .words = (s->n_hosts + 63) / 64};
    uint32_t *class = sort_vms(&c);

    if (c.n_classes == 0)
        return;
    mark_offers(&c);
    for (size_t i = 0; i < c.n_classes; i++)
        mark_class(&c, &c.classes[i]);
    for (uint32_t i = 0; i < s->n_vms; i++)
        s->vms[i].offered = class[i] == IX_NONE ? NULL : c.classes[class[i]].hosts;
}
