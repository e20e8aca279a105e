/* stored.c: changes of the policies that a service keeps. Each is made in a copy, which is then checked as a
 * whole by the dialect's own reader. */
#include "dialect/ovirt/stored.h"

#include "base/cleanup.h"
#include "base/uuid.h"
#include "dialect/ovirt/internal.h"
#include "model/snapshot_fields.h"
#include "schema/json_tree.h"

#include <errno.h>
#include <string.h>

#define POLICIES "scheduling_policies"
#define UNITS "scheduling_policy_units"
#define OVERRIDES "custom_scheduling_policy_properties"
#define SEGMENTS_MAX 4
#define STORED_MOST 200 /* policies */
#define CANNOT "Cannot %s Scheduling Policy. "

static const struct {
    const char *list, *kind;
} lists[UNIT_TYPES] = {{"filters", "filter"}, {"weights", "weight"}, {"balances", "balance"}};

struct change {
    json_t *document; /* the copy */
    const json_t *units, *is;
    const char *segments[SEGMENTS_MAX];
    size_t n;
    const char *method;
    struct arena *a;
    struct stored_answer *answer;
    struct err *err;
};

json_t *stored_new(void)
{
    return json_pack("{s: [], s: [{}]}", POLICIES, "clusters");
}

/* ---- reading ---- */

/* As a cloud without hosts and VMs. */
static int read_document(const json_t *document, const json_t *units, bool idle, struct arena *a,
                         struct cloud *ret, struct err *err)
{
    CLEANUP(json_decrefp) json_t *cloud = json_deep_copy(document);

    (void)json_object_set_new(json_array_get(json_object_get(cloud, "clusters"), 0), "id", json_string("c"));
    (void)json_object_set_new(cloud, UNITS, units ? json_deep_copy(units) : json_array());
    return ovirt_read(cloud, idle, a, ret, err);
}

json_t *stored_show(const json_t *document, const json_t *units, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct cloud c;

    if (read_document(document, units, true, &a, &c, err) < 0)
        return NULL;
    json_t *policies = policies_json(&c);
    size_t i;
    json_t *own;

    json_array_foreach(json_object_get(document, POLICIES), i, own)
    {
        const json_t *description = json_object_get(own, "description");
        json_t *shown = json_array_get(policies, json_array_size(policies) - c.policies.n + i);

        if (description)
            (void)json_object_set(shown, "description", (json_t *)(uintptr_t)description);
    }
    json_t *all = units_json();

    if (units)
        (void)json_array_extend(all, (json_t *)(uintptr_t)units);
    return json_pack("{s: o, s: o, s: O}", POLICIES, policies, UNITS, all, "clusters",
                     json_object_get(document, "clusters"));
}

int stored_pipeline(const json_t *document, const json_t *units, double mem_overcommit, struct arena *a,
                    struct seen_pipeline *ret, bool *agrees, struct err *err)
{
    const json_t *cluster = json_array_get(json_object_get(document, "clusters"), 0);
    CLEANUP(json_decrefp) json_t *made = NULL;
    struct node *tree;
    struct cloud c;

    *agrees = true;
    if (!json_object_get(cluster, "scheduling_policy"))
        return 0;
    int e = read_document(document, units, true, a, &c, err);

    if (e < 0)
        return e;
    sources_pipeline(&c, mem_overcommit, &made, agrees);
    (void)json_object_set_new(made, "name", json_string("scheduling policy"));
    (void)json_object_set_new(made, "of_ovirt", json_true());
    CLEANUP(freep) char *text = json_dumps(made, JSON_COMPACT);
    const struct reader r = {.a = a, .err = err};

    if (!text)
        return err_set(err, -ENOMEM, "out of memory");
    if ((e = json_tree_parse(text, a, &tree, err)) < 0)
        return e;
    *ret = (struct seen_pipeline){0};
    e = reader_object(&r, tree, &snapshot_fields_pipeline, ret);
    ret->origin = RULE_OF_CONFIGURATION;
    return e < 0 ? e : 1;
}

/* ---- finding ---- */

static const char *text_of(const json_t *is, const char *member)
{
    return json_string_value(json_object_get(is, member));
}

/* The index in the list of the element with the id, or with the name; -1: none. */
static int find_in(const json_t *list, const char *id, const char *name)
{
    size_t i;
    const json_t *one;

    json_array_foreach(list, i, one)
    {
        const char *its_id = text_of(one, "id");
        const char *its_name = text_of(one, "name");

        if ((id && its_id && strcmp(id, its_id) == 0) || (name && its_name && strcmp(name, its_name) == 0))
            return (int)i;
    }
    return -1;
}

static int not_found(const struct change *c)
{
    return err_set(c->err, -ENOENT, "no such object");
}

/* The word of the change in the engine's sentences. */
static const char *verb_of(const struct change *c)
{
    return strcmp(c->method, "PUT") == 0 || c->n > 2 ? "edit" : c->method[0] == 'D' ? "remove" : "add";
}

/* The policy of the path, which may be changed. */
static int find_own(const struct change *c, json_t **ret, size_t *ret_ix)
{
    json_t *own = json_object_get(c->document, POLICIES);
    int ix = find_in(own, c->segments[1], NULL);

    *ret = ix < 0 ? NULL : json_array_get(own, (size_t)ix);
    *ret_ix = (size_t)ix;
    if (*ret)
        return 0;
    return policies_is_built_in(c->segments[1])
               ? err_set(c->err, -EINVAL, CANNOT "The policy is locked.", verb_of(c))
               : not_found(c);
}

/* ---- checking ---- */

/* What the reader says of the document: of the path in it the member alone, which "id" need not be. */
static const char *without_path(const char *text)
{
    const char *end = *text == '/' ? strchr(text, ':') : NULL;
    const char *member = end;

    while (member && member[-1] != '/')
        member--;
    return !member ? text : strncmp(member, "id: ", 4) == 0 ? member + 4 : member;
}

/* Properties that a body gives are of units that the policy has by then. One without units may have any: as
 * the engine's clients make policies, its units come later. */
static bool is_strict(const struct change *c)
{
    bool units = c->n > 1;

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        units = units || json_object_get(c->is, lists[i].list);
    return units && (json_object_get(c->is, "properties") || json_object_get(c->is, OVERRIDES));
}

static int check(const struct change *c)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct cloud cloud;
    struct err err = {0};

    if (json_array_size(json_object_get(c->document, POLICIES)) > STORED_MOST)
        return err_set(c->err, -EINVAL, CANNOT "There are %d already.", verb_of(c), STORED_MOST);
    if (read_document(c->document, c->units, !is_strict(c), &a, &cloud, &err) == 0)
        return 0;
    return strcmp(c->segments[0], "clusters") == 0
               ? err_set(c->err, -EINVAL, "Cannot edit Cluster. %s.", without_path(err.text))
               : err_set(c->err, -EINVAL, CANNOT "%s.", verb_of(c), without_path(err.text));
}

/* ---- policies ---- */

/* What the caller sees of the policy afterwards. */
static int answer_policy(const struct change *c, const char *id, int status)
{
    CLEANUP(json_decrefp) json_t *shown = stored_show(c->document, c->units, c->err);
    const json_t *all = json_object_get(shown, POLICIES);
    int ix = find_in(all, id, NULL);

    if (!shown || ix < 0)
        return -EINVAL;
    c->answer->status = status;
    c->answer->kind = "scheduling_policy";
    c->answer->is = json_incref(json_array_get(all, (size_t)ix));
    return 0;
}

/* Copies what the body may set. Units are set one by one, but for a new policy. */
static void take_members(json_t *policy, const json_t *is, bool with_units)
{
    static const char *const members[] = {"name", "description", "default_policy", "properties", "selector"};

    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (json_object_get(is, members[i]))
            (void)json_object_set_new(policy, members[i], json_deep_copy(json_object_get(is, members[i])));
    for (size_t i = 0; with_units && i < COUNT_OF(lists); i++)
        if (json_object_get(is, lists[i].list))
            (void)json_object_set_new(policy, lists[i].list,
                                      json_deep_copy(json_object_get(is, lists[i].list)));
}

/* One default: the last one that was made so. */
static void keep_one_default(const struct change *c, const json_t *policy)
{
    size_t i;
    json_t *other;

    json_array_foreach(json_object_get(c->document, POLICIES), i, other)
    {
        if (other != policy && json_is_true(json_object_get(policy, "default_policy")))
            (void)json_object_del(other, "default_policy");
    }
}

/* A clone has all that the other one has, but for what the body gives. */
static int copy_original(const struct change *c, json_t *policy)
{
    const json_t *of = json_object_get(c->is, "clone_of");
    const char *id = json_is_string(of) ? json_string_value(of) : text_of(of, "id");

    if (!of)
        return 0;
    CLEANUP(json_decrefp) json_t *shown = stored_show(c->document, c->units, c->err);
    const json_t *all = json_object_get(shown, POLICIES);
    int ix = find_in(all, id, json_is_string(of) ? id : text_of(of, "name"));

    if (!shown)
        return -EINVAL;
    if (ix < 0)
        return err_set(c->err, -EINVAL, CANNOT "The policy to clone is not there.", "add");
    take_members(policy, json_array_get(all, (size_t)ix), true);
    (void)json_object_del(policy, "default_policy");
    return 0;
}

static int check_its_name(const struct change *c, const char *name, const char *id)
{
    CLEANUP(json_decrefp) json_t *shown = stored_show(c->document, c->units, c->err);
    const json_t *all = json_object_get(shown, POLICIES);
    int ix = find_in(all, NULL, name);

    if (!shown)
        return -EINVAL;
    return ix < 0 || (id && strcmp(text_of(json_array_get(all, (size_t)ix), "id"), id) == 0)
               ? 0
               : err_set(c->err, -EINVAL, CANNOT "Name is in use.", verb_of(c));
}

static int add_policy(struct change *c)
{
    const char *name = text_of(c->is, "name");
    char id[UUID_TEXT];

    if (!name || !*name)
        return err_set(c->err, -EINVAL, "SchedulingPolicy [name] required for add");
    int e = check_its_name(c, name, NULL);

    if (e < 0 || (e = uuid_random(id)) < 0)
        return e;
    json_t *policy = json_pack("{s: s}", "id", id);

    if ((e = copy_original(c, policy)) < 0) {
        json_decref(policy);
        return e;
    }
    take_members(policy, c->is, true);
    (void)json_array_append_new(json_object_get(c->document, POLICIES), policy);
    keep_one_default(c, policy);
    c->answer->told = arena_printf(c->a, "scheduling policy \"%s\" was added", name);
    return (e = check(c)) < 0 ? e : answer_policy(c, id, 201);
}

static int edit_policy(struct change *c)
{
    const char *id = text_of(c->is, "id");
    const char *name = text_of(c->is, "name");
    json_t *policy;
    size_t ix;
    int e = find_own(c, &policy, &ix);

    if (e < 0)
        return e;
    if (id && strcmp(id, c->segments[1]) != 0)
        return err_set(c->err, -EEXIST, CANNOT "The id cannot be changed.", "edit");
    if (name && (e = check_its_name(c, name, c->segments[1])) < 0)
        return e;
    take_members(policy, c->is, false);
    keep_one_default(c, policy);
    c->answer->told = arena_printf(c->a, "scheduling policy \"%s\" was changed", text_of(policy, "name"));
    return (e = check(c)) < 0 ? e : answer_policy(c, c->segments[1], 200);
}

static int remove_policy(struct change *c)
{
    const json_t *cluster = json_array_get(json_object_get(c->document, "clusters"), 0);
    const char *attached = text_of(json_object_get(cluster, "scheduling_policy"), "id");
    json_t *policy;
    size_t ix;
    int e = find_own(c, &policy, &ix);

    if (e < 0)
        return e;
    if (attached && strcmp(attached, c->segments[1]) == 0)
        return err_set(c->err, -EINVAL, CANNOT "The policy is attached to the cluster.", "remove");
    c->answer->told = arena_printf(c->a, "scheduling policy \"%s\" was removed", text_of(policy, "name"));
    (void)json_array_remove(json_object_get(c->document, POLICIES), ix);
    return check(c);
}

/* ---- units of a policy ---- */

static bool find_type(const char *word, enum unit_type *ret)
{
    for (int type = 0; type < UNIT_TYPES; type++)
        if (strcmp(word, lists[type].list) == 0) {
            *ret = (enum unit_type)type;
            return true;
        }
    return false;
}

static const char *name_of_unit(const struct change *c, const char *id, enum unit_type type)
{
    const struct unit *u = units_find(id, type);
    int ix = u ? -1 : find_in(c->units, id, NULL);

    return u ? u->name : ix < 0 ? id : text_of(json_array_get(c->units, (size_t)ix), "name");
}

static int add_unit(struct change *c)
{
    const json_t *unit = json_object_get(c->is, "scheduling_policy_unit");
    const char *id = text_of(unit ? unit : c->is, "id");
    enum unit_type type;
    json_t *policy;
    size_t ix;

    if (!find_type(c->segments[2], &type))
        return not_found(c);
    int e = find_own(c, &policy, &ix);

    if (e < 0)
        return e;
    if (!id)
        return err_set(c->err, -EINVAL, "SchedulingPolicyUnit [id] required for add");
    json_t *use = type == UNIT_BALANCE ? json_pack("{s: s}", "id", id)
                  : type == UNIT_WEIGHT
                      ? json_pack("{s: s, s: O*}", "id", id, "factor", json_object_get(c->is, "factor"))
                      : json_pack("{s: s, s: O*}", "id", id, "position", json_object_get(c->is, "position"));

    if (type == UNIT_BALANCE || !json_object_get(policy, lists[type].list)) /* a balance replaces */
        (void)json_object_set_new(policy, lists[type].list, json_array());
    (void)json_array_append_new(json_object_get(policy, lists[type].list), use);
    if ((e = check(c)) < 0)
        return e;
    c->answer->status = 200;
    c->answer->kind = lists[type].kind;
    c->answer->is = json_deep_copy(use);
    if (type == UNIT_FILTER && !json_object_get(use, "position"))
        (void)json_object_set_new(c->answer->is, "position", json_integer(0));
    if (type == UNIT_WEIGHT && !json_object_get(use, "factor"))
        (void)json_object_set_new(c->answer->is, "factor", json_integer(1));
    c->answer->told = arena_printf(c->a, "scheduling policy \"%s\": the %s %s was added",
                                   text_of(policy, "name"), lists[type].kind, name_of_unit(c, id, type));
    return 0;
}

static int remove_unit(struct change *c)
{
    enum unit_type type;
    json_t *policy;
    size_t ix;

    if (!find_type(c->segments[2], &type))
        return not_found(c);
    int e = find_own(c, &policy, &ix);

    if (e < 0)
        return e;
    json_t *list = json_object_get(policy, lists[type].list);
    int at = find_in(list, c->segments[3], NULL);

    if (at < 0)
        return 0; /* as the engine: it is not there */
    (void)json_array_remove(list, (size_t)at);
    c->answer->told =
        arena_printf(c->a, "scheduling policy \"%s\": the %s %s was removed", text_of(policy, "name"),
                     lists[type].kind, name_of_unit(c, c->segments[3], type));
    return check(c);
}

/* Units of the configuration stay as long as they are there. */
static int refuse_unit(const struct change *c)
{
    for (uint32_t i = 0; units_at(i); i++)
        if (strcmp(units_at(i)->id, c->segments[1]) == 0)
            return err_set(c->err, -EEXIST, "Cannot remove Policy Unit. It is internal.");
    return find_in(c->units, c->segments[1], NULL) < 0
               ? not_found(c)
               : err_set(c->err, -EEXIST, "Cannot remove Policy Unit. The configuration has it.");
}

/* ---- the cluster ---- */

static int edit_cluster(struct change *c)
{
    json_t *cluster = json_array_get(json_object_get(c->document, "clusters"), 0);
    const json_t *policy = json_object_get(c->is, "scheduling_policy");
    const json_t *properties = json_object_get(c->is, OVERRIDES);
    const char *id = text_of(policy, "id");
    const char *name = text_of(policy, "name");
    CLEANUP(json_decrefp) json_t *shown = stored_show(c->document, c->units, c->err);
    const json_t *all = json_object_get(shown, POLICIES);
    int ix = find_in(all, id, id ? NULL : name);

    if (!shown)
        return -EINVAL;
    if (policy && id && !*id) {
        (void)json_object_clear(cluster);
        c->answer->told = "no scheduling policy is attached to the cluster any more";
    } else if (policy && ix < 0) {
        return err_set(c->err, -EINVAL, "Cannot edit Cluster. The scheduling policy is not there.");
    } else if (policy) {
        const json_t *chosen = json_array_get(all, (size_t)ix);

        (void)json_object_set_new(cluster, "scheduling_policy",
                                  json_pack("{s: s}", "id", text_of(chosen, "id")));
        (void)json_object_del(cluster, OVERRIDES);
        c->answer->told = arena_printf(c->a, "the scheduling policy \"%s\" is attached to the cluster",
                                       text_of(chosen, "name"));
    }
    if (properties) {
        (void)json_object_set_new(cluster, OVERRIDES, json_deep_copy(properties));
        c->answer->told = c->answer->told ? c->answer->told
                                          : "the cluster's properties of its scheduling policy were changed";
    }
    c->answer->status = 200;
    c->answer->kind = "cluster";
    c->answer->is = json_deep_copy(cluster);
    return check(c);
}

/* ---- the whole ---- */

static const struct {
    const char *method, *collection;
    size_t n;
    int (*change)(struct change *c);
} changes[] = {
    {"POST", "schedulingpolicies", 1, add_policy},      {"PUT", "schedulingpolicies", 2, edit_policy},
    {"DELETE", "schedulingpolicies", 2, remove_policy}, {"POST", "schedulingpolicies", 3, add_unit},
    {"DELETE", "schedulingpolicies", 4, remove_unit},   {"PUT", "clusters", 2, edit_cluster},
};

int stored_change(const json_t *document, const json_t *units, const struct stored_request *asked,
                  struct arena *a, json_t **ret, struct stored_answer *answer, struct err *err)
{
    struct change c = {.document = json_deep_copy(document),
                       .units = units,
                       .is = asked->is,
                       .method = asked->method,
                       .a = a,
                       .answer = answer,
                       .err = err};
    char *rest = arena_strdup(a, asked->path);
    int e = -ENOENT;

    *answer = (struct stored_answer){.status = 200};
    for (char *word; c.n < SEGMENTS_MAX && (word = strsep(&rest, "/")) != NULL;)
        c.segments[c.n++] = word;
    if (c.n == 2 && strcmp(c.segments[0], "schedulingpolicyunits") == 0 && asked->method[0] == 'D')
        e = refuse_unit(&c);
    else
        (void)not_found(&c);
    for (size_t i = 0; !rest && i < COUNT_OF(changes); i++)
        if (c.n == changes[i].n && strcmp(c.segments[0], changes[i].collection) == 0 &&
            strcmp(c.method, changes[i].method) == 0)
            e = changes[i].change(&c);
    if (e < 0) {
        json_decref(c.document);
        json_decref(answer->is);
        answer->is = NULL;
        return e;
    }
    *ret = c.document;
    return 0;
}
