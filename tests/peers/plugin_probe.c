/* plugin_probe: runs a collector and an actuator by hand, for tests and for diagnosing a source.
 *
 *     plugin_probe KIND [KEY=VALUE]...      keys of `source:`; password_file is read, tls_verify takes true
 * or false
 *
 * Reads commands from standard input, one a line, and answers each with one line of JSON:
 *
 *     collect                               the inventory, and whether a snapshot can be built of it
 *     check|start|adopt migrate UID VM FROM TO       adopt: start, but begin no new task
 *     check|start|adopt power_on_vm UID VM HOST
 *     check|start|adopt OPERATION UID HOST             enter_maintenance, exit_maintenance, standby, wake
 *     check standby UID HOST by_controller           if the host's own controller would put it down
 *     poll [KIND] TASK                            KIND: of a host, standby or wake
 *     poll power_on_vm UID VM HOST TASK [only]    only: take no further step
 *     cancel TASK
 *     set HOST POOL=CPU_RESERVATION,CPU_LIMIT,CPU_SHARES,MEM_RESERVATION,MEM_LIMIT,MEM_SHARES ...
 *                                           a limit of -1 is none; POOL=nothing: no VM is left there
 *
 * {"ok": true, ...} or {"ok": false, "error": "ECONNREFUSED", "text": "..."}. */
#include "base/cleanup.h"
#include "base/log.h"
#include "collectors/skeleton/skeleton.h"
#include "model/snapshot_build.h"
#include "plugins/plugins.h"
#include "plugins/source_kinds.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probe {
    struct source_config cfg;
    struct collector *collector;
    struct actuator *actuator;
    const struct plugin *plugin;
};

/* Not json_null(): the model's own writer of JSON has a function of that name. */
static json_t *nothing(void)
{
    return json_pack("n");
}

static json_t *number(double v)
{
    return isnan(v) || isinf(v) ? nothing() : json_real(v);
}

static json_t *text(const char *s)
{
    return s ? json_string(s) : nothing();
}

static json_t *list(const struct ids *ids)
{
    json_t *l = json_array();

    for (uint32_t i = 0; i < ids->n; i++)
        json_array_append_new(l, json_string(ids->items[i]));
    return l;
}

static json_t *alloc(const struct alloc *a)
{
    return json_pack("{s:o,s:o,s:o,s:b}", "reservation", number(a->reservation), "limit", number(a->limit),
                     "shares", number(a->shares), "expandable", a->expandable);
}

/* null: not known */
static json_t *offer(const struct offer *o)
{
    return o->known ? list(&o->names) : nothing();
}

static json_t *offers(const struct host_facts *h)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:s,s:b,s:o}", "networks", offer(&h->networks), "datastores",
                     offer(&h->datastores), "devices", offer(&h->devices), "cpu_modes", offer(&h->cpu_modes),
                     "cpu_vendor", text(h->cpu_vendor), "failure_detection",
                     failure_detection_name(h->failure_detection), "quarantine", h->quarantine,
                     "hardware_uuid", text(h->hardware_uuid));
}

static json_t *needs(const struct vm_facts *v)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:f}", "networks", list(&v->networks), "datastores",
                     list(&v->datastores), "devices", list(&v->devices), "cpu_vendor", text(v->cpu_vendor),
                     "cpu_mode", text(v->cpu_mode), "immovable", text(v->immovable), "mandatory_only",
                     text(v->mandatory_only), "disks_copied_mb", v->disks_copied_mb);
}

static json_t *labels(const struct labels *l)
{
    json_t *o = json_object();

    for (uint32_t i = 0; i < l->n; i++)
        (void)json_object_set_new(o, l->items[i].key, json_string(l->items[i].value));
    return o;
}

static json_t *hosts(const struct inventory *inv)
{
    json_t *l = json_array();

    for (size_t i = 0; i < inv->n_hosts; i++) {
        const struct host_facts *h = &inv->hosts[i].is;
        json_array_append_new(
            l,
            json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:s,s:i,s:b,s:b,s:o,s:o,s:o,s:f,s:f}", "id",
                      h->id, "name", h->name, "state", host_state_name(h->state), "cpu_mhz",
                      number(h->total[RES_CPU]), "mem_mb", number(h->total[RES_MEM]), "cpu_reserved_mhz",
                      number(h->reserved[RES_CPU]), "mem_reserved_mb", number(h->reserved[RES_MEM]),
                      "mem_free_mb", number(h->mem_free_mb), "power_w", number(h->power_w), "cores",
                      (int)h->cores, "dpm", automation_name(h->dpm), "wake_methods", (int)h->wake_methods,
                      "vsan", h->vsan, "serves_storage", h->serves_storage, "agents_required",
                      list(&inv->hosts[i].agents_required), "offers", offers(h), "labels", labels(&h->labels),
                      "mem_pressure", h->mem_pressure, "swap_in_mb_s", h->swap_in_mb_s));
    }
    return l;
}

static json_t *sample(const struct vm_sample *x)
{
    if (!x->present)
        return nothing();
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "measured",
        x->measured ? json_integer(x->measured) : json_null(), "interval_ms", number(x->interval_ms),
        "cpu_used_mhz", number(x->cpu_used_mhz), "cpu_ready_ms", number(x->cpu_ready_ms), "cpu_run_ms",
        number(x->cpu_run_ms), "cpu_sleep_ms", number(x->cpu_sleep_ms), "core_mhz", number(x->core_mhz),
        "mem_active_mb", number(x->mem_active_mb), "mem_consumed_mb", number(x->mem_consumed_mb),
        "mem_overhead_mb", number(x->mem_overhead_mb), "mem_guest_used_mb", number(x->mem_guest_used_mb));
}

static json_t *vms(const struct inventory *inv)
{
    json_t *l = json_array();

    for (size_t i = 0; i < inv->n_vms; i++) {
        const struct seen_vm *v = &inv->vms[i];
        json_array_append_new(
            l,
            json_pack(
                "{s:s,s:s,s:o,s:o,s:s,s:s,s:o,s:s,s:i,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:f}",
                "id", v->is.id, "name", v->is.name, "host", text(v->host), "pool", text(v->pool), "state",
                vm_state_name(v->is.state), "kind", vm_kind_name(v->is.kind), "ft_peer", text(v->ft_peer),
                "automation", automation_name(v->is.automation), "vcpus", (int)v->is.vcpus, "mem_mb",
                number(v->is.mem_mb), "consumed_mb", number(v->is.consumed_mb), "cpu",
                alloc(&v->is.alloc[RES_CPU]), "mem", alloc(&v->is.alloc[RES_MEM]), "demand_unknown",
                v->is.demand_unknown, "sample", sample(&v->sample), "needs", needs(&v->is), "labels",
                labels(&v->is.labels), "folder", text(v->is.folder), "groups", list(&v->is.groups),
                "if_all_sleep", v->if_all_sleep, "dirty_mb_s", number(v->is.dirty_mb_s), "ballooned_mb",
                v->is.ballooned_mb));
    }
    return l;
}

static json_t *pools(const struct inventory *inv)
{
    json_t *l = json_array();

    for (size_t i = 0; i < inv->n_pools; i++) {
        const struct seen_pool *p = &inv->pools[i];
        json_array_append_new(l, json_pack("{s:s,s:s,s:o,s:b,s:o,s:o}", "id", p->is.id, "name", p->is.name,
                                           "parent", text(p->parent), "scalable_shares",
                                           p->is.scalable_shares, "cpu", alloc(&p->is.alloc[RES_CPU]), "mem",
                                           alloc(&p->is.alloc[RES_MEM])));
    }
    return l;
}

static json_t *rules(const struct inventory *inv)
{
    json_t *l = json_array();

    for (size_t i = 0; i < inv->n_rules; i++) {
        const struct seen_rule *r = &inv->rules[i];
        json_array_append_new(l, json_pack("{s:s,s:s,s:s,s:b,s:b,s:o,s:o}", "id", r->is.id, "name",
                                           r->is.name, "kind", rule_kind_name(r->is.kind), "enabled",
                                           r->is.enabled, "mandatory", r->is.mandatory, "vms", list(&r->vms),
                                           "hosts", list(&r->hosts)));
    }
    return l;
}

static json_t *groups(const struct inventory *inv)
{
    json_t *l = json_array();

    for (size_t i = 0; i < inv->n_groups; i++) {
        const struct seen_group *g = &inv->groups[i];
        json_array_append_new(l, json_pack("{s:s,s:s,s:s,s:o}", "id", g->is.id, "name", g->is.name, "kind",
                                           g->is.kind, "hosts", list(&g->hosts)));
    }
    return l;
}

static json_t *ha(const struct inventory *inv)
{
    return json_pack("{s:s,s:i,s:i,s:o,s:o,s:o}", "policy", ha_policy_name(inv->ha.policy), "hosts",
                     (int)inv->ha.hosts, "hosts_on", (int)inv->ha.hosts_on, "cpu_percent",
                     number(inv->ha.percent[RES_CPU]), "mem_percent", number(inv->ha.percent[RES_MEM]),
                     "failover_hosts", list(&inv->ha_failover_hosts));
}

static json_t *failed(int code, const struct err *err)
{
    return json_pack("{s:b,s:s,s:s}", "ok", 0, "error", strerrorname_np(-code), "text", err->text);
}

static json_t *do_collect(struct probe *p)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct inventory inv;
    struct snapshot snap;
    struct err err = {0};
    int r = p->plugin->collector->collect(p->collector, &a, &inv, &err);

    if (r < 0)
        return failed(r, &err);
    const char *frozen = snapshot_build(&inv, &a, &snap, &err) < 0 ? err.text : "ok";
    return json_pack("{s:b,s:s,s:I,s:o,s:o,s:s,s:{s:b,s:b},s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "ok", 1, "cluster",
                     inv.cluster, "time", (json_int_t)inv.time, "source_automation",
                     text(inv.source_automation), "labels_unread", text(inv.labels_unread), "freeze", frozen,
                     "conflicts", "balancer", inv.conflicts.balancer, "power", inv.conflicts.power, "hosts",
                     hosts(&inv), "vms", vms(&inv), "pools", pools(&inv), "rules", rules(&inv), "groups",
                     groups(&inv), "ha", ha(&inv), "source_faults", list(&inv.source_faults));
}

static const struct {
    const char *word;
    enum operation_kind kind;
} operations[] = {{"migrate", OPERATION_MIGRATE},
                  {"migrate_off", OPERATION_MIGRATE},
                  {"power_on_vm", OPERATION_POWER_ON_VM},
                  {"enter_maintenance", OPERATION_ENTER_MAINTENANCE},
                  {"exit_maintenance", OPERATION_EXIT_MAINTENANCE},
                  {"standby", OPERATION_STANDBY},
                  {"wake", OPERATION_WAKE}};

static bool read_request(char *const *words, struct operation *ret)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (words[0] && strcmp(words[0], operations[i].word) == 0) {
            *ret = (struct operation){.kind = operations[i].kind, .uid = words[1]};
            if (ret->kind == OPERATION_MIGRATE)
                ret->vm = words[2], ret->from = words[3], ret->to = words[4],
                ret->off = strcmp(words[0], "migrate_off") == 0;
            else if (ret->kind == OPERATION_POWER_ON_VM)
                ret->vm = words[2], ret->to = words[3];
            else
                ret->host = words[2],
                ret->power.by_controller = words[3] && strcmp(words[3], "by_controller") == 0;
            return true;
        }
    }
    return false;
}

static json_t *do_act(struct probe *p, const char *verb, char *const *words)
{
    static const char *const states[] = {[TASK_QUEUED] = "queued",
                                         [TASK_RUNNING] = "running",
                                         [TASK_SUCCEEDED] = "succeeded",
                                         [TASK_FAILED] = "failed"};
    struct operation q = {.uid = "probe", .kind = OPERATION_MIGRATE};
    struct err err = {0};
    char task[TASK_NAME_MAX] = "";
    struct task_progress progress;
    int r;

    if (strcmp(verb, "poll") == 0) {
        bool named = words[1] && words[1][0];
        bool starts = named && strcmp(words[0], "power_on_vm") == 0 && read_request(words, &q);

        if (named && !starts)
            q.kind = strcmp(words[0], "wake") == 0 ? OPERATION_WAKE : OPERATION_STANDBY;
        q.only_adopt = starts && words[5] && strcmp(words[5], "only") == 0;
        r = p->plugin->actuator->poll(p->actuator, &q, words[starts ? 4 : named], &progress, &err);
        if (r < 0)
            return failed(r, &err);
        return json_pack("{s:b,s:s,s:i,s:b,s:s,s:f,s:f,s:s}", "ok", 1, "state", states[progress.state],
                         "percent", progress.percent, "gone", progress.gone, "why", progress.why.text,
                         "took_s", progress.took_s, "downtime_s", progress.downtime_s, "task", progress.task);
    }
    if (strcmp(verb, "cancel") == 0)
        r = p->plugin->actuator->cancel(p->actuator, &q, words[0], &err);
    else if (!read_request(words, &q))
        r = err_set(&err, -EINVAL, "no such operation");
    else if (strcmp(verb, "check") == 0)
        r = p->plugin->actuator->check(p->actuator, &q, &err);
    else {
        q.only_adopt = strcmp(verb, "adopt") == 0;
        r = p->plugin->actuator->start(p->actuator, &q, task, &err);
    }
    return r < 0 ? failed(r, &err) : json_pack("{s:b,s:s}", "ok", 1, "task", task);
}

/* "pool=100,-1,4000,0,512,81920" or "pool=nothing". */
static bool read_setting(char *word, struct pool_setting *ret)
{
    char *numbers = strchr(word, '=');
    double value[6] = {0, -1, 0, 0, -1, 0};

    if (!numbers)
        return false;
    *numbers++ = '\0';
    *ret = (struct pool_setting){.pool = word, .nothing = strcmp(numbers, "nothing") == 0};
    for (size_t i = 0; !ret->nothing && i < 6; i++) {
        char *end = NULL;
        value[i] = strtod(numbers, &end);
        if (end == numbers)
            return false;
        numbers = *end == ',' ? end + 1 : end;
    }
    for (size_t r = 0; r < RES_COUNT; r++)
        ret->alloc[r] = (struct alloc){.reservation = value[3 * r],
                                       .limit = value[3 * r + 1] < 0 ? NO_LIMIT : value[3 * r + 1],
                                       .shares = value[3 * r + 2]};
    return true;
}

static json_t *do_set(struct probe *p, char *const *words)
{
    struct pool_setting list[8];
    struct pool_settings q = {.host = words[0], .settings = list};
    struct err err = {0};
    int r = -EINVAL;

    while (q.n_settings < 6 && words[1 + q.n_settings] &&
           read_setting(words[1 + q.n_settings], &list[q.n_settings]))
        q.n_settings++;
    if (p->plugin->actuator->apply_settings && q.n_settings > 0)
        r = p->plugin->actuator->apply_settings(p->actuator, &q, &err);
    return r < 0 ? failed(r, &err) : json_pack("{s:b}", "ok", 1);
}

static json_t *obey(struct probe *p, char *line)
{
    char *words[8] = {0};
    struct err err = {0};

    for (size_t i = 0; i < 7 && line; i += words[i] && words[i][0])
        words[i] = strsep(&line, " \n");
    if (words[0] && strcmp(words[0], "collect") == 0)
        return do_collect(p);
    if (words[0] && words[1] && p->plugin->actuator && strcmp(words[0], "set") == 0)
        return do_set(p, words + 1);
    if (words[0] && words[1] && p->plugin->actuator)
        return do_act(p, words[0], words + 1);
    return failed(-EINVAL, (err_set(&err, -EINVAL, "no such command"), &err));
}

static char *read_password(const char *path)
{
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;

    if (!f || getline(&line, &size, f) < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static const struct source_kind *find_kind(const char *word)
{
    for (size_t i = 0; source_kinds[i]; i++) {
        if (strcmp(source_kinds[i]->kind, word) == 0)
            return source_kinds[i];
    }
    return &skeleton_source; /* on no list */
}

#define OBJECTS_MOST 64

static bool set_value(const struct field *f, void *at, char *value)
{
    int word = 0;

    switch ((int)f->type) {
    case FIELD_NUMBER:
        *(double *)at = strtod(value, NULL);
        return true;
    case FIELD_COUNT:
        *(uint32_t *)at = (uint32_t)strtoul(value, NULL, 10);
        return true;
    case FIELD_BOOL:
        *(bool *)at = strcmp(value, "true") == 0;
        return true;
    case FIELD_LIST: {
        const char **list = calloc(2, sizeof *list); /* one entry is enough */
        if (list)
            list[0] = value;
        *(const char *const **)at = list;
        return list != NULL;
    }
    case FIELD_WORD:
        while (f->words[word] && strcmp(f->words[word], value) != 0)
            word++;
        *(int *)at = word;
        return f->words[word] != NULL;
    default:
        *(const char **)at = value;
        return true;
    }
}

static void set_defaults(const struct schema *keys, void *object)
{
    for (size_t i = 0; i < keys->n; i++) {
        const struct field *f = &keys->fields[i];
        if (f->type == FIELD_NUMBER)
            *(double *)((char *)object + f->offset) = UNKNOWN;
        if (f->type == FIELD_COUNT && f->fallback)
            *(uint32_t *)((char *)object + f->offset) = (uint32_t)strtoul(f->fallback, NULL, 10);
    }
}

static const struct field *find_field(const struct schema *keys, const char *name)
{
    for (size_t i = 0; i < keys->n; i++) {
        if (strcmp(keys->fields[i].name, name) == 0)
            return &keys->fields[i];
    }
    return NULL;
}

/* "hosts.hv1.uri=...": a key of an object among those of a field. */
static bool set_of_object(const struct field *f, struct objects *list, char *rest, char *value)
{
    const char *name = strsep(&rest, ".");
    const struct field *inner = rest ? find_field(f->inner, rest) : NULL;
    uint32_t i = 0;

    if (!list->items)
        list->items = calloc(OBJECTS_MOST, f->size);
    char *items = (char *)list->items;
    if (!inner || !items)
        return false;
    while (i < list->n && strcmp(*(const char **)(items + i * f->size), name) != 0)
        i++;
    if (i == OBJECTS_MOST)
        return false;
    if (i == list->n) {
        *(const char **)(items + i * f->size) = name;
        set_defaults(f->inner, items + i * f->size);
        list->n++;
    }
    return set_value(inner, items + i * f->size + inner->offset, value);
}

/* A key that only this kind has. */
static bool set_own(const struct source_kind *kind, void *settings, char *key, char *value)
{
    char *rest = key;
    const struct field *f = find_field(&kind->settings, key); /* "migration.mode" */
    const char *first = f ? NULL : strsep(&rest, ".");

    if (!f && !(f = find_field(&kind->settings, first)))
        return false;
    void *at = (char *)settings + f->offset;
    return f->type == FIELD_OBJECTS ? rest && set_of_object(f, at, rest, value) : set_value(f, at, value);
}

static void free_own(const struct source_kind *kind, void *settings)
{
    for (size_t i = 0; i < kind->settings.n; i++) {
        const struct field *f = &kind->settings.fields[i];
        void *at = (char *)settings + f->offset;
        if (f->type == FIELD_OBJECTS)
            free((void *)((struct objects *)at)->items);
        if (f->type == FIELD_LIST)
            free(*(void **)at);
    }
    free(settings);
}

static bool set(struct source_config *cfg, const struct source_kind *kind, void *settings, char *argument)
{
    char *value = strchr(argument, '=');
    if (!value)
        return false;
    *value++ = '\0';
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"url", &cfg->url},
                 {"username", &cfg->username},
                 {"ca_file", &cfg->ca_file},
                 {"cluster", &cfg->cluster}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(argument, texts[i].key) == 0) {
            *texts[i].to = value;
            return true;
        }
    }
    if (strcmp(argument, "password_file") == 0) {
        cfg->password_file = value;
        cfg->password = read_password(value);
    } else if (strcmp(argument, "tls_verify") == 0)
        cfg->tls_verify = strcmp(value, "true") == 0;
    else if (strcmp(argument, "timeout_s") == 0)
        cfg->timeout_s = (unsigned)strtoul(value, NULL, 10);
    else
        return set_own(kind, settings, argument, value);
    return true;
}

static void say(json_t *answer)
{
    (void)json_dumpf(answer, stdout, JSON_COMPACT);
    (void)fputc('\n', stdout);
    (void)fflush(stdout);
    json_decref(answer);
}

int main(int argc, char **argv)
{
    struct probe p = {.cfg = {.kind = argc > 1 ? argv[1] : "", .tls_verify = true, .timeout_s = 10}};
    const struct source_kind *kind = find_kind(p.cfg.kind);
    void *settings = calloc(1, kind->settings_size + 1);
    struct err err = {0};
    char *line = NULL;
    size_t size = 0;
    int r = 0;

    if (!settings)
        return 2;
    p.cfg.settings = settings;
    set_defaults(&kind->settings, settings);
    for (int i = 2; i < argc; i++) {
        if (!set(&p.cfg, kind, settings, argv[i])) {
            (void)fprintf(stderr, "plugin_probe: %s: not understood\n", argv[i]);
            return 2;
        }
    }
    (void)signal(SIGPIPE, SIG_IGN); /* as http.h asks */
    log_set_level(LOG_LEVEL_DEBUG);
    /* The skeleton is on no list. */
    p.plugin = strcmp(p.cfg.kind, skeleton_collector.kind) == 0 ? &skeleton_plugin : plugins_find(p.cfg.kind);
    if (!p.plugin) {
        (void)fprintf(stderr, "plugin_probe: there is no source of kind \"%s\"\n", p.cfg.kind);
        return 2;
    }
    r = p.plugin->open ? p.plugin->open(&p.cfg, &p.cfg.shared, &err) : 0;
    if (r == 0)
        r = p.plugin->collector->create(&p.cfg, &p.collector, &err);
    if (r == 0 && p.plugin->actuator)
        r = p.plugin->actuator->create(&p.cfg, &p.actuator, &err);
    if (r < 0)
        say(failed(r, &err));
    while (r == 0 && getline(&line, &size, stdin) > 0)
        say(obey(&p, line));
    free(line);
    p.plugin->collector->destroy(p.collector);
    if (p.plugin->actuator)
        p.plugin->actuator->destroy(p.actuator);
    if (p.plugin->close)
        p.plugin->close(p.cfg.shared);
    free((void *)p.cfg.password);
    free_own(kind, settings);
    return r < 0 ? 1 : 0;
}
