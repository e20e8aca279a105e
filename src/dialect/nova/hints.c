/* hints.c: the filters of scheduler hints and of server groups: where other servers are, and addresses. */
#include "dialect/nova/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define CIDR_DEFAULT "24"
#define GROUP_LIMIT "max_server_per_host"
#define GROUP_LIMIT_VARIABLE "$vm.hints." GROUP_LIMIT
#define MOVES_FROM "$vm.hints.moves_from"
#define MEMBERS_MOST 1000000
#define NETWORK_FROM "$vm.hints.network_from"
#define NETWORK_TO "$vm.hints.network_to"

/* ---- servers ---- */

static void add_host_of(const struct cloud *c, const json_t *id, struct words *hosts)
{
    const char *server = json_string_value(id);
    const char *host = server ? json_string_value(json_object_get(c->host_of, server)) : NULL;

    if (host && !nova_words_have(hosts, host))
        nova_words_add(hosts, host, c->a);
}

/* The hosts on which any of these servers is. */
static struct words hosts_of(const struct cloud *c, const json_t *ids)
{
    struct words ret = {0};
    size_t i;
    const json_t *id;

    add_host_of(c, ids, &ret);
    json_array_foreach(ids, i, id)
    {
        add_host_of(c, id, &ret);
    }
    return ret;
}

/* A hint may be a text, or a list. Empty: it is not given. */
static const json_t *hint(const struct request *r, const char *name)
{
    const json_t *ret = json_object_get(r->hints, name);

    if (json_is_array(ret) && json_array_size(ret) == 1 && !json_string_length(json_array_get(ret, 0)))
        return NULL;
    return json_array_size(ret) > 0 || json_string_length(ret) > 0 ? ret : NULL;
}

int nova_filter_different_host(struct cloud *c, const struct request *r, json_t **ret)
{
    const json_t *servers = hint(r, "different_host");
    struct words hosts = hosts_of(c, servers);

    *ret = vm_texts_have(c, r, "hosts_to_avoid", json_string(HOST), servers && hosts.n > 0 ? &hosts : NULL,
                         true);
    return 0;
}

int nova_filter_same_host(struct cloud *c, const struct request *r, json_t **ret)
{
    const json_t *servers = hint(r, "same_host");
    struct words hosts = hosts_of(c, servers);

    *ret = vm_texts_have(c, r, "hosts_to_join", json_string(HOST), servers ? &hosts : NULL, false);
    return 0;
}

/* ---- server groups ---- */

const char *hint_group_policy(const json_t *group)
{
    const json_t *policy = json_object_get(group, "policy");

    if (!policy) /* before version 2.64 of the API */
        policy = json_array_get(json_object_get(group, "policies"), 0);
    return json_is_string(policy) ? json_string_value(policy) : "";
}

/* The most members on one host. */
static int group_limit(const struct cloud *c, const json_t *group, json_int_t *ret)
{
    const char *text =
        nova_python_str(json_object_get(json_object_get(group, "rules"), "max_server_per_host"), c->a);

    *ret = 1;
    return !text || nova_python_int(text, c->a, ret)
               ? 0
               : err_set(c->err, -EINVAL,
                         "/server_groups: max_server_per_host is \"%s\", expected a whole number", text);
}

/* Where members are, this server too: a move, too, is only to a host of one of them, as Nova has it. */
int nova_filter_affinity(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words hosts = hosts_of(c, json_object_get(r->group, "members"));
    bool binds = r->group && strcmp(hint_group_policy(r->group), "affinity") == 0 && hosts.n > 0;

    *ret = vm_texts_have(c, r, "group_hosts", json_string(HOST), binds ? &hosts : NULL, false);
    return 0;
}

/* Members are counted on a host, and on all nodes of its compute service. */
int nova_filter_anti_affinity(struct cloud *c, const struct request *r, json_t **ret)
{
    json_int_t limit;
    int e = group_limit(c, r->group, &limit);

    if (e < 0)
        return e;
    if (strcmp(hint_group_policy(r->group), "anti-affinity") == 0) {
        (void)vm_set(c, r, "hints", GROUP_LIMIT, json_integer(limit));
        if (r->home)
            (void)vm_set(c, r, "hints", "moves_from", json_string(r->home));
    }
    if (!vm_given(c, GROUP_LIMIT_VARIABLE))
        return 0;
    json_t *at_most = json_string(GROUP_LIMIT_VARIABLE);

    if (vm_given(c, MOVES_FROM)) /* the host of the VM passes, whichever others are there */
        at_most = json_pack("[s, [s, s, s], i, o]", "if", "=", HOST, MOVES_FROM, MEMBERS_MOST, at_most);
    *ret = json_pack("{s: [s, [s, s], i, i], s: o, s: s, s: b}", "count", "if", "given", GROUP_LIMIT_VARIABLE,
                     1, 0, "limit", at_most, "per", "$vm.groups", "off", 1);
    if (c->shares_nodes)
        (void)json_object_set_new(*ret, "over", json_string(SERVICE));
    return 0;
}

/* ---- addresses ---- */

struct address {
    unsigned char bytes[sizeof(struct in6_addr)];
    unsigned n; /* 4 or 16 */
};

static bool read_address(const char *text, struct address *ret)
{
    *ret = (struct address){.n = 4};
    if (inet_pton(AF_INET, text, ret->bytes) == 1)
        return true;
    ret->n = 16;
    return inet_pton(AF_INET6, text, ret->bytes) == 1;
}

/* Texts of one length in the order of the addresses: the family, then the bytes. */
static const char *address_key(const struct address *of, struct arena *a)
{
    const char *ret = of->n == 4 ? "4:" : "6:";

    for (unsigned i = 0; i < of->n; i++)
        ret = arena_printf(a, "%s%02x", ret, of->bytes[i]);
    return ret;
}

/* The first address of the network of so many bits, or its last. */
static struct address end_of_network(struct address at, unsigned bits, bool last)
{
    for (unsigned i = bits; i < at.n * 8; i++) {
        unsigned char bit = (unsigned char)(0x80 >> i % 8);
        at.bytes[i / 8] = (unsigned char)(last ? at.bytes[i / 8] | bit : at.bytes[i / 8] & ~bit);
    }
    return at;
}

static const char *one_text(const json_t *hint)
{
    return json_string_value(json_is_array(hint) ? json_array_get(hint, 0) : hint);
}

static void set_addresses(struct cloud *c)
{
    size_t i;
    const json_t *state;
    struct address of;

    if (!cloud_first(c, "addresses"))
        return;
    json_array_foreach(c->states, i, state)
    {
        const char *text = json_string_value(json_object_get(state, "host_ip"));
        if (text && read_address(text, &of))
            host_set(c, i, "address", json_string(address_key(&of, c->a)));
    }
}

/* The first address of the network and its last; what is no address or no network has none. */
static void set_network(struct cloud *c, const struct request *r, const char *near, const char *cidr)
{
    struct address at;
    json_int_t bits;

    cidr = cidr ? cidr + (*cidr == '/') : CIDR_DEFAULT; /* the document writes it without the "/" */
    bool is = read_address(near, &at) && nova_python_int(cidr, c->a, &bits) && bits >= 0 && bits <= at.n * 8;
    const struct address from = is ? end_of_network(at, (unsigned)bits, false) : at;
    const struct address to = is ? end_of_network(at, (unsigned)bits, true) : at;

    (void)vm_set(c, r, "hints", "network_from", json_string(is ? address_key(&from, c->a) : "none"));
    (void)vm_set(c, r, "hints", "network_to", json_string(is ? address_key(&to, c->a) : ""));
}

int nova_filter_cidr(struct cloud *c, const struct request *r, json_t **ret)
{
    const char *near = one_text(hint(r, "build_near_host_ip"));
    const char *cidr = one_text(hint(r, "cidr"));

    if (near)
        set_network(c, r, near, cidr);
    if (!vm_given(c, NETWORK_FROM))
        return 0;
    set_addresses(c);
    *ret = vm_unless_given(NETWORK_FROM,
                           json_pack("[s, [s, s, s], [s, s, s]]", "and", "s>=", ATTRIBUTE "address",
                                     NETWORK_FROM, "s<=", ATTRIBUTE "address", NETWORK_TO));
    return 0;
}
