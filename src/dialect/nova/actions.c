/* actions.c: requests to move a server that is there, in the form of the bodies of POST /servers/ID/action,
 * and what the scheduler is asked for them: hosts that it ignores, or that are named, past its filters or
 * not. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <string.h>

#define ID "server_id"
#define SAME_HOST_TRAIT "COMPUTE_SAME_HOST_COLD_MIGRATE"
#define ZONE_DEFAULT "nova"
#define ZONE "availability_zone"

struct action;

struct asked {
    struct cloud *c;
    const struct action *action;
    const json_t *body;   /* an object, or null */
    const json_t *server; /* as listed */
    size_t source;        /* the number of its hypervisor, if it is at one */
    const char *home;     /* the compute service that it is on; NULL: it is on none */
    json_t *json;         /* the server as it is asked for */
    struct request is;    /* what the action asks; server_read() fills in the others */
};

typedef int read_action(struct asked *q);

struct action {
    const char *name;
    const char *may_have; /* members of its body, with a blank before and behind each */
    const char *needs;    /* one that must be there; NULL: none */
    const char *states;   /* of the server, likewise; a server without a status is in the right one */
    bool may_be_null;     /* the body */
    read_action *read;
    const char *done, *to; /* as in struct nova_move */
};

static int wrong(const struct asked *q, const char *member, const char *what)
{
    return err_set(q->c->err, -EINVAL, "/%s%s%s: %s", q->action->name, *member ? "/" : "", member, what);
}

/* ---- the body ---- */

/* True or false, as the API takes them; absent: false. */
static int read_flag(const struct asked *q, const char *member, bool *ret)
{
    const json_t *value = json_object_get(q->body, member);
    const char *text = json_string_value(value);

    *ret = json_is_true(value) || (text && strcasecmp(text, "true") == 0);
    return !value || json_is_boolean(value) || *ret || (text && strcasecmp(text, "false") == 0)
               ? 0
               : wrong(q, member, "expected true or false");
}

/* The compute service that the body names, with its first node; NULL: none. */
static int read_host(const struct asked *q, const char **ret_host, const char **ret_node)
{
    const json_t *value = json_object_get(q->body, "host");
    const char *host = json_string_value(value);
    const json_t *nodes = host ? json_object_get(q->c->nodes, host) : NULL;

    *ret_host = NULL;
    if (!value || json_is_null(value))
        return 0;
    if (!nodes)
        return wrong(q, "host", "expected the host of one of hypervisors");
    *ret_host = host;
    *ret_node = json_string_value(json_array_get(nodes, 0));
    return 0;
}

/* Likewise, and it may not be the server's own. */
static int read_other_host(struct asked *q)
{
    int e = read_host(q, &q->is.host, &q->is.node);

    return e < 0 || !q->is.host || strcmp(q->is.host, q->home) != 0
               ? e
               : wrong(q, "host", "is the server's own, expected another");
}

static int check_body(const struct asked *q)
{
    const char *key;
    json_t *value;

    if (!json_is_object(q->body))
        return q->action->may_be_null
                   ? 0
                   : wrong(q, "", "expected an object, as the body of POST /servers/ID/action has it");
    json_object_foreach((json_t *)q->body, key, value)
    {
        if (!strstr(q->action->may_have, arena_printf(q->c->a, " %s ", key)))
            return wrong(q, key, arena_printf(q->c->a, "not known, expected%s", q->action->may_have));
    }
    return q->action->needs && !json_object_get(q->body, q->action->needs)
               ? wrong(q, q->action->needs, "missing")
               : 0;
}

/* ---- actions ---- */

/* A move stays in the cell unless it may leave it, which the document's requested_destination says; then the
 * hosts of the cell weigh more. */
static void set_cell(struct asked *q, bool may_leave)
{
    const json_t *cell = json_object_get(json_array_get(q->c->states, q->source), "cell_uuid");
    bool leaves = may_leave && json_is_true(json_object_get(q->is.destination, "allow_cross_cell_move"));

    if (!json_is_string(cell) || (leaves && q->is.host))
        return;
    if (leaves)
        q->is.destination = cloud_keep(
            q->c, "destination", json_pack("{s: O, s: b}", "cell", cell, "allow_cross_cell_move", true));
    else
        q->is.cell = json_string_value(cell);
}

static bool same_host_trait(const struct asked *q)
{
    const json_t *hypervisor = json_array_get(json_object_get(q->c->lists, "hypervisors"), q->source);
    size_t i;
    const json_t *trait;

    json_array_foreach(json_object_get(hypervisor, "traits"), i, trait)
    {
        if (json_is_string(trait) && strcmp(json_string_value(trait), SAME_HOST_TRAIT) == 0)
            return true;
    }
    return false;
}

static int read_migrate(struct asked *q)
{
    int e = read_other_host(q);

    if (!same_host_trait(q))
        q->is.left = q->home;
    set_cell(q, true);
    return e;
}

static bool is_down(const struct asked *q, size_t hypervisor)
{
    const char *state =
        cloud_text(json_array_get(json_object_get(q->c->lists, "hypervisors"), hypervisor), "state");

    return state && strcmp(state, "up") != 0;
}

/* The number of the hypervisor of the node. */
static size_t number_of(const struct cloud *c, const char *node)
{
    size_t ret = 0;

    while (ret < json_array_size(c->states) &&
           strcmp(json_string_value(json_object_get(json_array_get(c->states, ret), "nodename")), node) != 0)
        ret++;
    return ret;
}

/* With "force" the scheduler is not asked; what the target must have is claimed all the same. */
static int read_force(struct asked *q)
{
    bool force;
    int e = read_flag(q, "force", &force);

    if (e == 0 && force && !q->is.host)
        return wrong(q, "force", "true without a host, expected a host to force to");
    q->is.forced = q->is.bypasses = force;
    return e;
}

static int read_live(struct asked *q)
{
    int e = read_other_host(q);

    if (e < 0 || (e = read_force(q)) < 0)
        return e;
    if (is_down(q, q->source))
        return wrong(q, "", "the compute service of the server is down, expected one that is up");
    if (q->is.forced && is_down(q, number_of(q->c, q->is.node)))
        return wrong(q, "host", "its compute service is down, expected one that is up");
    q->is.left = q->home;
    q->is.live_from = json_array_get(q->c->states, q->source);
    set_cell(q, false);
    return 0;
}

/* The old flavour counts where the server is, the new one where it comes, also if that is the same host. */
static int read_resize(struct asked *q)
{
    bool same_host;
    int e = conf_bool(q->c, "DEFAULT", "allow_resize_to_same_host", false, &same_host);

    (void)json_object_set(q->json, "flavorRef", json_object_get(q->body, "flavorRef"));
    (void)json_object_del(q->json, "flavor");
    if (!same_host)
        q->is.left = q->home;
    set_cell(q, true);
    return e;
}

static int read_evacuate(struct asked *q)
{
    int e = read_other_host(q);

    if (e < 0 || (e = read_force(q)) < 0)
        return e;
    if (!is_down(q, q->source))
        return wrong(q, "", "the compute service of the server is up, expected one that is down");
    q->is.left = q->home;
    set_cell(q, false);
    return 0;
}

/* On its node, for which nothing is claimed. */
static void stay(struct asked *q)
{
    const json_t *state = json_array_get(q->c->states, q->source);

    q->is.host = q->home;
    q->is.node = json_string_value(json_object_get(state, "nodename"));
    q->is.forced = q->is.bypasses = q->is.stays = true;
}

static bool is_zone(const struct cloud *c, const char *zone)
{
    const char *usual = conf_text(c, "DEFAULT", "default_availability_zone");
    size_t i;
    const json_t *aggregate;

    json_array_foreach(json_object_get(c->lists, "aggregates"), i, aggregate)
    {
        const char *its = cloud_text(json_object_get(aggregate, "metadata"), ZONE);

        its = its ? its : cloud_text(aggregate, ZONE);
        if (its && strcmp(its, zone) == 0)
            return true;
    }
    return strcmp(zone, usual ? usual : ZONE_DEFAULT) == 0;
}

/* Only a server that is offloaded is scheduled: into its zone, another one, or with null into any. */
static int read_unshelve(struct asked *q)
{
    const json_t *zone = json_object_get(q->body, ZONE);
    const char *ignored;
    int e = read_host(q, &q->is.host, &ignored);

    if (e < 0)
        return e;
    if (q->home) {
        stay(q);
        return json_object_size(q->body) == 0
                   ? 0
                   : wrong(q, "",
                           "the server is on a host yet, expected null, or one that is SHELVED_OFFLOADED");
    }
    if (zone)
        q->is.zone = json_string_value(zone);
    if (zone && !json_is_null(zone) && (!q->is.zone || !is_zone(q->c, q->is.zone)))
        return wrong(q, ZONE, "expected the zone of an aggregate, or null");
    return 0;
}

/* With the image that it has it is not scheduled; with another one its host must agree to that. */
static int read_rebuild(struct asked *q)
{
    const char *is = cloud_text(json_object_get(q->server, "image"), "id");
    const json_t *ref = json_object_get(q->body, "imageRef");
    const char *text = nova_python_str(ref, q->c->a);
    const char *slash = text ? strrchr(text, '/') : NULL;
    bool same = is && text && (strcmp(text, is) == 0 || (slash && strcmp(slash + 1, is) == 0));

    (void)json_object_set(q->json, "imageRef", (json_t *)ref);
    (void)json_object_del(q->json, "image");
    q->is.of_volume = json_is_string(json_object_get(q->server, "image"));
    stay(q);
    q->is.rebuilds = !same;
    return 0;
}

static const struct action actions[] = {
    {"migrate", " host ", NULL, " ACTIVE SHUTOFF ", true, read_migrate, "migrated", "to"},
    {"os-migrateLive", " host block_migration disk_over_commit force ", NULL, " ACTIVE PAUSED ", false,
     read_live, "migrated live", "to"},
    {"resize", " flavorRef OS-DCF:diskConfig ", "flavorRef", " ACTIVE SHUTOFF ", false, read_resize,
     "resized", "at"},
    {"evacuate", " host force onSharedStorage adminPass ", NULL, " ACTIVE SHUTOFF ERROR ", false,
     read_evacuate, "evacuated", "to"},
    {"unshelve", " availability_zone host ", NULL, " SHELVED SHELVED_OFFLOADED ", true, read_unshelve,
     "unshelved", "at"},
    {"rebuild",
     " imageRef name adminPass metadata personality preserve_ephemeral description key_name user_data "
     "hostname accessIPv4 accessIPv6 OS-DCF:diskConfig trusted_image_certificates ",
     "imageRef", " ACTIVE SHUTOFF ERROR ", false, read_rebuild, "rebuilt", "at"},
};

/* ---- the server ---- */

/* The server with this id, or the only one with this name; its number in the list. */
static const json_t *find_server(const struct cloud *c, const char *wanted, size_t *ret_ix)
{
    const json_t *ret = NULL;
    size_t named = 0;
    size_t i;
    const json_t *server;

    json_array_foreach(json_object_get(c->lists, "servers"), i, server)
    {
        const char *id = cloud_text(server, "id");
        const char *name = cloud_text(server, "name");

        if (server_is_deleted(server))
            continue;
        if (id && strcmp(id, wanted) == 0) {
            *ret_ix = i;
            return server;
        }
        if (name && strcmp(name, wanted) == 0) {
            named++;
            ret = server;
            *ret_ix = i;
        }
    }
    return named == 1 ? ret : NULL;
}

/* Finds the server, and where it is. */
static int find_moving(struct asked *q)
{
    struct cloud *c = q->c;
    const char *wanted = cloud_text(c->lists, ID);
    size_t ix = 0;

    if (!wanted)
        return err_set(c->err, -EINVAL, "/" ID ": missing, expected the id of the server to %s",
                       q->action->name);
    q->server = find_server(c, wanted, &ix);
    if (!q->server)
        return err_set(c->err, -EINVAL, "/" ID ": \"%s\" is the id, or the only name, of none of servers",
                       wanted);
    const char *status = cloud_text(q->server, "status");
    const char *node = server_node(c, q->server);

    if (status && !strstr(q->action->states, arena_printf(c->a, " %s ", status)))
        return err_set(c->err, -EINVAL, "/servers/%zu/status: \"%s\", expected one of%sto %s it", ix, status,
                       q->action->states, q->action->name);
    if (node) {
        q->source = number_of(c, node);
        q->home = json_string_value(json_object_get(json_array_get(c->states, q->source), "host"));
    }
    return node || q->action->read == read_unshelve
               ? 0
               : err_set(c->err, -EINVAL, "/servers/%zu: it is on no host, from which to %s it", ix,
                         q->action->name);
}

/* The action that the document has; NULL: none. */
static int find_action(const struct cloud *c, const struct action **ret)
{
    *ret = NULL;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (!json_object_get(c->lists, actions[i].name))
            continue;
        if (*ret)
            return err_set(c->err, -EINVAL, "/%s: given beside %s, expected one action", actions[i].name,
                           (*ret)->name);
        *ret = &actions[i];
    }
    return *ret || !json_object_get(c->lists, ID)
               ? 0
               : err_set(c->err, -EINVAL,
                         "/" ID
                         ": given, expected with migrate, os-migrateLive, resize, evacuate, unshelve or "
                         "rebuild");
}

/* What the API refuses of a resize, when the flavours are known. */
static int check_flavors(const struct asked *q, const struct request *r)
{
    const json_t *old = json_object_get(q->server, "flavor");
    const char *name = cloud_text(old, "original_name");
    const json_t *was =
        json_object_get(old, "vcpus")
            ? old
            : cloud_find(q->c, "flavors", "id", nova_python_str(json_object_get(old, "id"), q->c->a));

    if (was == r->flavor_json || (name && strcmp(name, r->flavor) == 0))
        return wrong(q, "flavorRef", "is the flavor that the server has, expected another");
    return json_integer_value(json_object_get(r->flavor_json, "disk")) > 0 || r->of_volume ||
                   json_integer_value(json_object_get(was, "disk")) == 0
               ? 0
               : wrong(q, "flavorRef", "has no disk, expected one, as the server's root disk is no volume");
}

bool nova_is_asked(const char *member)
{
    static const char *const others[] = {"server", ID, "os:scheduler_hints", "OS-SCH-HNT:scheduler_hints",
                                         "requested_destination"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], member) == 0)
            return true;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, member) == 0)
            return true;
    return false;
}

bool nova_find_move(const json_t *cloud, struct nova_move *ret)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (json_object_get(cloud, actions[i].name)) {
            *ret = (struct nova_move){.action = actions[i].name,
                                      .done = actions[i].done,
                                      .to = actions[i].to,
                                      .server = json_string_value(json_object_get(cloud, ID))};
            return true;
        }
    return false;
}

int action_read(struct cloud *c, struct server *ret, bool *ret_is)
{
    struct asked q = {.c = c};
    int e = find_action(c, &q.action);

    *ret_is = false;
    if (e < 0 || !q.action)
        return e;
    q.body = json_object_get(c->lists, q.action->name);
    if ((e = find_moving(&q)) < 0 || (e = check_body(&q)) < 0)
        return e;
    q.json = cloud_keep(c, "action", json_copy((json_t *)q.server));
    q.is.zone = cloud_text(q.server, "pinned_" ZONE);
    server_take_destination(c, &q.is);
    if ((e = q.action->read(&q)) < 0 ||
        (e = server_read(c, q.json, json_object_get(q.json, "os:scheduler_hints"),
                         arena_printf(c->a, "/%s", q.action->name), ret)) < 0)
        return e;
    struct request *r = &ret->asks;

    r->zone = q.is.zone;
    r->host = q.is.host;
    r->node = q.is.node;
    r->home = q.home;
    r->left = q.is.left;
    r->cell = q.is.cell;
    r->live_from = q.is.live_from;
    r->destination = q.is.destination;
    r->of_volume = r->of_volume || q.is.of_volume;
    r->forced = q.is.forced;
    r->bypasses = q.is.bypasses;
    r->stays = q.is.stays;
    r->rebuilds = q.is.rebuilds;
    c->moves = q.server;
    c->keeps_source = !r->stays && q.home;
    *ret_is = true;
    return q.action->read == read_resize ? check_flavors(&q, r) : 0;
}
