/* pci.c: PciPassthroughFilter: the devices that flavours ask for by [pci] alias, and the pools of hosts. */
#include "dialect/nova/internal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define ALIAS "pci_passthrough:alias"
#define REQUESTS_MAX 64 /* of a snapshot's VM */
#define POOLS_MAX 256   /* of a snapshot's host */
#define POLICY_DEFAULT "legacy"

static const char *lower(const char *text, struct arena *a)
{
    char *ret = arena_strdup(a, text);

    for (char *at = ret; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return ret;
}

/* ---- aliases ---- */

static int read_alias(struct cloud *c, const json_t *alias, json_t *aliases)
{
    const char *name = cloud_text(alias, "name");
    const char *policy = cloud_text(alias, "numa_policy");
    struct words words = {0};
    json_t *properties = json_object();
    const char *key;
    json_t *value;

    policy = policy ? policy : POLICY_DEFAULT;
    json_object_foreach((json_t *)alias, key, value)
    {
        if (strcmp(key, "name") == 0 || strcmp(key, "numa_policy") == 0 || !json_is_string(value))
            continue;
        (void)json_object_set_new(properties, strcmp(key, "device_type") == 0 ? "dev_type" : key,
                                  json_string(lower(json_string_value(value), c->a)));
    }
    if (name)
        words = nova_parts_split(name, '\n', c->a); /* stripped */
    json_t *known = words.n > 0 ? json_object_get(aliases, words.items[0]) : NULL;
    const json_t *first = json_object_get(json_array_get(json_object_get(known, "any_of"), 0), "properties");
    bool wrong =
        words.n != 1 || !*words.items[0] ||
        (known && (strcmp(json_string_value(json_object_get(known, "policy")), policy) != 0 ||
                   !json_equal(json_object_get(first, "dev_type"), json_object_get(properties, "dev_type"))));

    if (!wrong && !known) {
        known = json_pack("{s: s, s: []}", "policy", policy, "any_of");
        (void)json_object_set_new(aliases, words.items[0], known);
    }
    if (!wrong)
        (void)json_array_append_new(json_object_get(known, "any_of"),
                                    json_pack("{s: O}", "properties", properties));
    json_decref(properties);
    return wrong ? err_set(c->err, -EINVAL,
                           "nova.conf: [pci] alias \"%s\": expected a name, and one device_type and "
                           "numa_policy for each",
                           name ? name : "")
                 : 0;
}

/* An object, its text, or a list of them. */
static int read_aliases(struct cloud *c, const json_t *of, json_t *aliases)
{
    size_t i;
    const json_t *item;
    int e = 0;

    if (json_is_object(of))
        return read_alias(c, of, aliases);
    json_array_foreach(of, i, item)
    {
        e = e < 0 ? e : read_aliases(c, item, aliases);
    }
    if (!json_is_string(of) || !*json_string_value(of))
        return e;
    json_t *parsed = json_loads(json_string_value(of), JSON_REJECT_DUPLICATES, NULL);

    e = parsed ? read_aliases(c, parsed, aliases)
               : err_set(c->err, -EINVAL, "nova.conf: [pci] alias: \"%s\" is no JSON object",
                         json_string_value(of));
    json_decref(parsed);
    return e;
}

/* {name: {policy, any_of: [{properties}]}}. */
static int aliases_of(struct cloud *c, const json_t **ret)
{
    const json_t *given = json_object_get(json_object_get(c->conf, "pci"), "alias");
    json_t *aliases = cloud_found(c, "aliases");
    int e = 0;

    if (!aliases) {
        aliases = cloud_keep(c, "aliases", json_object());
        struct words lines = json_is_string(given) ? nova_parts_split(json_string_value(given), '\n', c->a)
                                                   : (struct words){0};
        for (size_t i = 0; e == 0 && i < lines.n; i++) {
            json_t *line = json_string(lines.items[i]);
            e = read_aliases(c, line, aliases);
            json_decref(line);
        }
        if (lines.n == 0)
            e = read_aliases(c, given, aliases);
    }
    *ret = aliases;
    return e;
}

/* ---- requests ---- */

static const char *affinity_of(const struct cloud *c, const struct request *r)
{
    const char *flavor =
        nova_python_str(json_object_get(r->extra_specs, "hw:pci_numa_affinity_policy"), c->a);
    const char *image = json_string_value(json_object_get(r->image, "hw_pci_numa_affinity_policy"));

    return flavor && *flavor ? flavor : image;
}

static int add_request(struct cloud *c, const struct request *r, const char *asked, const json_t *aliases,
                       json_t *requests)
{
    struct words parts = nova_parts_split(asked, ':', c->a);
    const json_t *alias = json_object_get(aliases, parts.items[0]);
    const char *policy = affinity_of(c, r);
    json_int_t n = 0;

    if (parts.n != 2 || !nova_python_int(parts.items[1], c->a, &n) || n < 1 || n > COUNT_MAX / 1000)
        return err_set(c->err, -EINVAL,
                       "flavor \"%s\": extra_specs/" ALIAS " has \"%s\", expected \"ALIAS:NUMBER\"",
                       r->flavor, asked);
    if (!alias)
        return err_set(c->err, -EINVAL, "flavor \"%s\": \"%s\" is no [pci] alias of nova.conf", r->flavor,
                       parts.items[0]);
    policy = policy ? policy : json_string_value(json_object_get(alias, "policy"));
    json_t *request = json_pack("{s: I, s: O}", "count", n, "any_of", json_object_get(alias, "any_of"));

    (void)json_array_append_new(requests, request);
    if (strcmp(policy, "preferred") != 0)
        (void)json_object_set_new(request, "affinity", json_string(policy));
    for (const char *const *known = (const char *const[]){"preferred", "legacy", "required", "socket", NULL};
         *known; known++)
        if (strcmp(policy, *known) == 0)
            return 0;
    return err_set(c->err, -EINVAL,
                   "flavor \"%s\": \"%s\" is no affinity, expected preferred, legacy, required or socket",
                   r->flavor, policy);
}

int pci_ask(struct cloud *c, const struct request *r)
{
    const char *text = nova_python_str(json_object_get(r->extra_specs, ALIAS), c->a);
    struct words asked = text ? nova_parts_split(text, ',', c->a) : (struct words){0};
    const json_t *aliases = NULL;

    if (asked.n == 0)
        return 0;
    json_t *requests = json_array();
    int e = aliases_of(c, &aliases);

    if (e == 0 && asked.n > REQUESTS_MAX)
        e = err_set(c->err, -EINVAL, "flavor \"%s\": more than %d aliases", r->flavor, REQUESTS_MAX);
    for (size_t i = 0; e == 0 && i < asked.n; i++)
        e = add_request(c, r, asked.items[i], aliases, requests);
    vm_set_needs(c, r, "device_requests", requests);
    return e;
}

int nova_filter_pci(struct cloud *c, const struct request *r, json_t **ret)
{
    int e = pci_ask(c, r);

    /* the name only: what the VM asks for is compared with the pools of hosts */
    if (e == 0 && vm_given(c, "device_requests"))
        *ret = json_pack("{s: s}", "needs", "devices");
    return e;
}

/* ---- pools ---- */

static json_t *pool_of(struct cloud *c, const json_t *of, size_t ix)
{
    json_t *properties = json_object();
    json_t *pool = json_pack("{s: s, s: I, s: o}", "id", arena_printf(c->a, "%zu", ix), "count",
                             json_integer_value(json_object_get(of, "count")), "properties", properties);
    const json_t *node = json_object_get(of, "numa_node");
    json_t *on_request = json_array();
    const char *key;
    json_t *value;

    for (int tags = 0; tags < 2; tags++)
        json_object_foreach((json_t *)(tags ? json_object_get(of, "tags") : of), key, value)
        {
            if (json_is_string(value))
                (void)json_object_set_new(properties, key,
                                          json_string(lower(json_string_value(value), c->a)));
        }
    const char *type = cloud_text(properties, "dev_type");
    const char *remote = cloud_text(properties, "remote_managed");

    /* Nova gives a physical function and a vDPA device only to a request for its kind */
    if (type && (strcmp(type, "type-pf") == 0 || strcmp(type, "vdpa") == 0))
        (void)json_array_append_new(on_request, json_string("dev_type"));
    for (const char *const *yes = (const char *const[]){"1", "t", "true", "on", "y", "yes", NULL};
         remote && *yes; yes++)
        if (strcmp(remote, *yes) == 0)
            (void)json_array_append_new(on_request, json_string("remote_managed"));
    if (json_is_integer(node))
        (void)json_object_set(pool, "cell", (json_t *)node);
    if (json_array_size(on_request) > 0)
        (void)json_object_set(pool, "on_request", on_request);
    json_decref(on_request);
    return pool;
}

/* As Nova has them: those of fewer tags first. */
json_t *pci_pools_of_host(struct cloud *c, size_t host)
{
    const json_t *given = json_array_get(c->pools, host);
    size_t n = json_array_size(given) < POOLS_MAX ? json_array_size(given) : POOLS_MAX;
    json_t *ret = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *pool = pool_of(c, json_array_get(given, i), i);
        size_t at = json_array_size(ret);

        while (at > 0 && json_object_size(json_object_get(json_array_get(ret, at - 1), "properties")) >
                             json_object_size(json_object_get(pool, "properties")))
            at--;
        (void)json_array_insert_new(ret, at, pool);
    }
    return ret;
}

/* ---- what listed servers have ---- */

static bool has_all(const json_t *properties, const json_t *wanted)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)wanted, key, value)
    {
        if (!json_equal(json_object_get(properties, key), value))
            return false;
    }
    return true;
}

static bool may_serve(const json_t *pool, const json_t *request)
{
    const json_t *properties = json_object_get(pool, "properties");
    size_t i;
    size_t k;
    const json_t *spec;
    const json_t *key;
    bool matches = false;

    json_array_foreach(json_object_get(request, "any_of"), i, spec)
    {
        matches = matches || has_all(properties, json_object_get(spec, "properties"));
    }
    json_array_foreach(json_object_get(pool, "on_request"), k, key)
    {
        const char *name = json_string_value(key);
        bool named = false;
        json_array_foreach(json_object_get(request, "any_of"), i, spec)
        {
            named = named || json_equal(json_object_get(json_object_get(spec, "properties"), name),
                                        json_object_get(properties, name));
        }
        matches = matches && named;
    }
    return matches;
}

static bool is_near(const json_t *pool, const json_t *cells)
{
    size_t i;
    const json_t *cell;

    json_array_foreach(cells, i, cell)
    {
        if (json_equal(json_object_get(pool, "cell"), json_object_get(cell, "cell")))
            return true;
    }
    return false;
}

/* The API does not tell which devices a server has: they are taken to be of the first pools that may serve
 * it, next to its cells where there are such. */
void pci_give(json_t *pools, json_t *vm)
{
    size_t i;
    json_t *request;
    json_t *requests =
        json_deep_copy(json_object_get(vm, "device_requests")); /* those of its kind are shared */

    json_array_foreach(requests, i, request)
    {
        json_t *best = NULL;
        json_int_t n = json_integer_value(json_object_get(request, "count"));

        for (size_t k = 0; k < json_array_size(pools); k++) {
            json_t *pool = json_array_get(pools, k);
            if (may_serve(pool, request) && (!best || (!is_near(best, json_object_get(vm, "numa")) &&
                                                       is_near(pool, json_object_get(vm, "numa")))))
                best = pool;
        }
        if (!best)
            continue;
        (void)json_object_set_new(best, "count",
                                  json_integer(json_integer_value(json_object_get(best, "count")) + n));
        (void)json_object_set(request, "pool", json_object_get(best, "id"));
    }
    if (requests)
        (void)json_object_set_new(vm, "device_requests", requests);
}
