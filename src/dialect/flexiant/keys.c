/* keys.c: which keys may stand where, and which value of a key counts for a server. */
#include "dialect/flexiant/internal.h"

#include "base/order.h"

#include <errno.h>
#include <string.h>

#define LEVELS 16

static const struct placement_key *key_at(const struct objects *keys, uint32_t i)
{
    return (const struct placement_key *)keys->items + i;
}

static const struct placement_key *find_key(const struct objects *keys, const char *name)
{
    for (uint32_t i = 0; i < keys->n; i++)
        if (strcmp(key_at(keys, i)->name, name) == 0)
            return key_at(keys, i);
    return NULL;
}

static bool is_special(const char *name)
{
    return strcmp(name, "#RAM") == 0 || strcmp(name, "#CPU") == 0 || strcmp(name, "#LOAD") == 0;
}

/* ---- checks ---- */

static int refuse(const struct cloud *c, const char *pointer, uint32_t i, const char *member, const char *why)
{
    return err_set(c->err, -EINVAL, "%s/%u/%s: %s", pointer, i, member, why);
}

static int check_key_name(const struct cloud *c, const struct placement_key *k, const char *pointer,
                          uint32_t i)
{
    size_t n = strnlen(k->name, KEY_NAME_MAX + 1);

    return n > 0 && n <= KEY_NAME_MAX
               ? 0
               : refuse(c, pointer, i, "name", "empty or too long, expected 1 to 200 bytes");
}

static int check_special(const struct cloud *c, const struct placement_key *k, enum cloud_kind kind,
                         const char *pointer, uint32_t i)
{
    if (!is_special(k->name))
        return refuse(c, pointer, i, "name", "begins with #, expected #RAM, #CPU or #LOAD");
    if (k->owner != KEY_SYSTEM)
        return refuse(c, pointer, i, "owner", "a special key is the system's, expected \"system\"");
    if (k->value.type != VALUE_ABSENT && k->value.type != VALUE_NUMBER)
        return refuse(c, pointer, i, "value", "a special key is compared with a share, expected a number");
    if (kind == CLUSTERS && k->value.type == VALUE_NUMBER && k->value.number != 0)
        return refuse(c, pointer, i, "value", "on a cluster the target of a special key is always 0");
    return 0;
}

/* "they cannot be set on the master billing entity, customer, VDC, or any of the product offers" */
static bool takes_customer_keys(enum cloud_kind kind, bool master)
{
    return !(kind == BILLING_ENTITIES && master) && kind != CUSTOMERS && kind != VDCS &&
           kind != PRODUCT_OFFERS;
}

static int check_key(const struct cloud *c, const struct placement_key *k, enum cloud_kind kind, bool master,
                     const char *pointer, uint32_t i)
{
    int e = check_key_name(c, k, pointer, i);

    if (e < 0)
        return e;
    if (!k->owner_given)
        return refuse(c, pointer, i, "owner", "missing, expected system, billing_entity or customer");
    if (k->sticky)
        return refuse(c, pointer, i, "sticky", "only keys of nodes are sticky");
    if (k->owner == KEY_CUSTOMER && !takes_customer_keys(kind, master))
        return refuse(c, pointer, i, "owner",
                      "a customer's key cannot be set on the master billing entity, a customer, a VDC or a "
                      "product offer");
    if (k->name[0] == HIDDEN_SPECIAL)
        return check_special(c, k, kind, pointer, i);
    if (k->name[0] == HIDDEN_RESERVED && k->owner == KEY_SYSTEM)
        return refuse(c, pointer, i, "owner",
                      "a reserved key cannot be the system's, expected billing_entity or customer");
    return k->value.type != VALUE_ABSENT
               ? 0
               : refuse(c, pointer, i, "value", "missing, expected a number or a text");
}

int keys_check(const struct cloud *c, const struct keyed *r, enum cloud_kind kind, bool master,
               const char *pointer)
{
    const char *where = arena_printf(c->a, "%s/keys", pointer);
    int e = 0;

    for (uint32_t i = 0; e == 0 && i < r->keys.n; i++) {
        const struct placement_key *k = key_at(&r->keys, i);

        e = check_key(c, k, kind, master, where, i);
        for (uint32_t j = 0; e == 0 && j < i; j++) {
            const struct placement_key *other = key_at(&r->keys, j);
            if (strcmp(k->name, other->name) == 0 && (k->owner == KEY_SYSTEM) == (other->owner == KEY_SYSTEM))
                e = refuse(c, where, i, "name", "the name of another key here, expected it once");
        }
    }
    return e;
}

int keys_check_copies(const struct cloud *c, const struct objects *keys, const char *pointer)
{
    for (uint32_t i = 0; i < keys->n; i++) {
        const struct placement_key *k = key_at(keys, i);
        int e = check_key_name(c, k, pointer, i);

        if (e < 0)
            return e;
        if (k->name[0] == HIDDEN_SPECIAL)
            return refuse(c, pointer, i, "name", "begins with #, but special keys are never copied");
        if (k->value.type != VALUE_NUMBER)
            return refuse(c, pointer, i, "value", "expected a number");
        if (find_key(keys, k->name) != k)
            return refuse(c, pointer, i, "name", "the name of another key here, expected it once");
    }
    return 0;
}

static int check_node_key(const struct cloud *c, const struct objects *keys, const char *pointer, uint32_t i)
{
    const struct placement_key *k = key_at(keys, i);
    int e = check_key_name(c, k, pointer, i);

    if (e < 0)
        return e;
    if (k->name[0] == HIDDEN_SPECIAL)
        return refuse(c, pointer, i, "name", "special keys of nodes are computed, expected another key");
    if (k->value.type != VALUE_NUMBER)
        return refuse(c, pointer, i, "value", "a node's key needs a number");
    if (k->owner_given)
        return refuse(c, pointer, i, "owner", "a node's key has none");
    if (k->sticky != (k->weight != 0))
        return refuse(c, pointer, i, "weight", "a sticky key of a node has a weight, and no other has");
    if (find_key(keys, k->name) != k)
        return refuse(c, pointer, i, "name", "the name of another key here, expected it once");
    return 0;
}

int keys_check_nodes(const struct cloud *c)
{
    for (uint32_t i = 0; i < c->lists[NODES].n; i++) {
        const struct node_of_cloud *n = flexiant_item(c, NODES, i);
        const char *pointer = arena_printf(c->a, "/nodes/%u/keys", i);
        const struct node_of_cloud *first = NULL;

        for (uint32_t k = 0; k < n->r.keys.n; k++) {
            int e = check_node_key(c, &n->r.keys, pointer, k);
            if (e < 0)
                return e;
        }
        for (uint32_t j = 0; j < i && !first; j++) {
            const struct node_of_cloud *other = flexiant_item(c, NODES, j);
            first = strcmp(other->cluster, n->cluster) == 0 ? other : NULL;
        }
        for (uint32_t k = 0; first && k < first->r.keys.n; k++)
            if (!find_key(&n->r.keys, key_at(&first->r.keys, k)->name))
                return err_set(
                    c->err, -EINVAL,
                    "%s: \"%.100s\" is missing, expected the keys that node \"%.100s\" of this cluster has",
                    pointer, key_at(&first->r.keys, k)->name, first->r.id);
        for (uint32_t k = 0; first && k < n->r.keys.n; k++)
            if (!find_key(&first->r.keys, key_at(&n->r.keys, k)->name))
                return refuse(c, pointer, k, "name",
                              "another node of this cluster lacks it, expected the same keys on all");
    }
    return 0;
}

bool keys_of_node(const struct node_of_cloud *n, const char *name, double *ret)
{
    const struct placement_key *k = find_key(&n->r.keys, name);

    if (k)
        *ret = k->value.number;
    return k != NULL;
}

/* ---- the hierarchy ---- */

/* The key with this name, which is added if it is not there. */
static struct compiled_key *slot_of(struct compiled_keys *of, const char *name, struct arena *a)
{
    uint32_t i = 0;

    while (i < of->n && strcmp(of->items[i].name, name) != 0)
        i++;
    if (i == of->n) {
        of->items = arena_grow(a, of->items, of->n++, &of->cap, sizeof *of->items);
        of->items[i] = (struct compiled_key){.name = name};
    }
    return &of->items[i];
}

static void set_key(struct compiled_keys *of, const struct placement_key *k, bool own, struct arena *a)
{
    *slot_of(of, k->name, a) =
        (struct compiled_key){.name = k->name,
                              .value = k->value.type == VALUE_NUMBER ? k->value.number : 0,
                              .weight = k->weight,
                              .own = own};
}

/* A key without a weight, or whose value is no number, is a normal one. */
static void add_level(const struct objects *keys, bool own, struct arena *a, struct server_keys *ret)
{
    for (uint32_t i = 0; keys && i < keys->n; i++) {
        const struct placement_key *k = key_at(keys, i);
        bool number = k->value.type == VALUE_NUMBER || k->value.type == VALUE_ABSENT;

        if (number && k->weight != 0)
            set_key(k->owner == KEY_SYSTEM ? &ret->system : &ret->customer, k, own, a);
    }
}

/* A copy of a node's key is compared where the node's key is: that of a reserved one by the customer's round.
 */
static void add_reserved_copies(const struct objects *keys, struct arena *a, struct server_keys *ret)
{
    for (uint32_t i = 0; i < keys->n; i++) {
        const struct placement_key *k = key_at(keys, i);

        if (k->weight != 0 && k->name[0] == HIDDEN_RESERVED)
            set_key(&ret->customer, k, true, a);
    }
}

static void mark_copies(const struct objects *keys, bool all, struct arena *a, struct server_keys *ret)
{
    for (uint32_t i = 0; i < keys->n; i++) {
        const struct placement_key *k = key_at(keys, i);

        if (k->name[0] == HIDDEN_RESERVED || k->weight == 0 || !(all || k->sticky))
            continue;
        struct compiled_key *slot = slot_of(&ret->system, k->name, a);

        slot->copy = !slot->own;
    }
}

/* The others are hints of the VM, so that those of its next start count: of all keys that a node may give. */
static void add_copies(const struct cloud *c, const struct server *s, const char *cluster,
                       struct server_keys *ret)
{
    mark_copies(&s->sticky_keys, true, c->a, ret);
    for (uint32_t i = 0; i < c->lists[NODES].n; i++) {
        const struct node_of_cloud *n = flexiant_item(c, NODES, i);
        if (strcmp(n->cluster, cluster) == 0)
            mark_copies(&n->r.keys, false, c->a, ret);
    }
}

static const struct objects *keys_of(const struct cloud *c, enum cloud_kind kind, const char *id)
{
    const struct keyed *r = flexiant_find(c, kind, id);

    return r ? &r->keys : NULL;
}

static void sort(struct compiled_keys *keys)
{
    order_sort(keys->items, keys->n, sizeof *keys->items, order_texts);
}

struct server_keys keys_compile(const struct cloud *c, const struct server *s)
{
    const struct owned *vdc = flexiant_find(c, VDCS, s->vdc);
    const struct owned *customer = flexiant_find(c, CUSTOMERS, vdc->customer);
    const struct owned *image = flexiant_find(c, IMAGES, s->image);
    const struct disk *disk = s->disks.n > 0 ? s->disks.items : NULL;
    const struct nic *nic = s->nics.n > 0 ? s->nics.items : NULL;
    const struct owned *network = nic ? flexiant_find(c, NETWORKS, nic->network) : NULL;
    const struct objects *const levels[LEVELS] = {
        keys_of(c, CLUSTERS, vdc->cluster),
        keys_of(c, BILLING_ENTITIES, customer->billing_entity),
        keys_of(c, PRODUCT_OFFERS, customer->product_offer),
        &customer->r.keys,
        image ? keys_of(c, PRODUCT_OFFERS, image->product_offer) : NULL,
        image ? &image->r.keys : NULL,
        keys_of(c, PRODUCT_OFFERS, vdc->product_offer),
        &vdc->r.keys,
        keys_of(c, PRODUCT_OFFERS, s->product_offer),
        &s->r.keys,
        disk ? keys_of(c, PRODUCT_OFFERS, disk->product_offer) : NULL,
        disk ? &disk->r.keys : NULL,
        network ? keys_of(c, PRODUCT_OFFERS, network->product_offer) : NULL,
        network ? &network->r.keys : NULL,
        nic ? keys_of(c, PRODUCT_OFFERS, nic->product_offer) : NULL,
        nic ? &nic->r.keys : NULL,
    };
    struct server_keys ret = {0};
    bool own = false;

    for (int i = 0; i < LEVELS; i++) {
        if (levels[i] == &s->r.keys) {
            own = true; /* they count more than copies */
            add_reserved_copies(&s->sticky_keys, c->a, &ret);
        }
        add_level(levels[i], own, c->a, &ret);
    }
    add_copies(c, s, vdc->cluster, &ret);
    sort(&ret.system);
    sort(&ret.customer);
    return ret;
}
