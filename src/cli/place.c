/* ballast place: hosts on which to power VMs on, in a snapshot, or as the service decides, and acts. */
#include "core/place/place.h"
#include "base/cleanup.h"
#include "base/thread_pool.h"
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/cloud.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/place_ovirt.h"
#include "cli/verbs.h"
#include "dialect/nova/nova.h"
#include "dialect/ovirt/ovirt.h"
#include "render/render.h"

#include <errno.h>
#include <string.h>

#define INSTANCES_MAX 1000

enum {
    OPT_SNAPSHOT,
    OPT_VMS,
    OPT_CONFIG,
    OPT_SET,
    OPT_APPLY,
    OPT_PIPELINE,
    OPT_REQUEST,
    OPT_CLOUD,
    OPT_PROJECT,
    OPT_NUM_INSTANCES,
    OPT_SOCKET,
    OPT_FORMAT,
    OPT_COUNT
};

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = OPTION_SNAPSHOT,
    [OPT_VMS] = {"vms", "FILE", 0, "instead of VM...: the VMs as a JSON array; - reads standard input"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from this configuration, not from the snapshot"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one setting"},
    [OPT_APPLY] = {"apply", NULL, 0,
                   "power the VMs on, all or none: only VM..., with the service's settings"},
    [OPT_PIPELINE] =
        {"pipeline", "nova|ovirt", 0,
         "place a request of OpenStack by Nova's filters and weighers, or VMs of a cloud of oVirt "
         "by the scheduling policies of its clusters"},
    [OPT_REQUEST] = {"request", "FILE", 0,
                     "with --pipeline: the body of POST /servers, or server_id and the body of POST "
                     "/servers/ID/action; - reads standard input"},
    [OPT_CLOUD] = {"cloud", "PATH", OPTION_REPEATS,
                   "with --pipeline: a file or folder of the cloud, as for `ballast fit`; default: the "
                   "request's file has it all"},
    [OPT_PROJECT] = {"project", "ID", 0, "with --pipeline: the project of a new server without tenant_id"},
    [OPT_NUM_INSTANCES] = {"num-instances", "N", 0, "with --pipeline: ask for so many servers"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

/* ---- a request of OpenStack ---- */

/* The request takes the place of one that the cloud has, and its other members those of the cloud. */
static void take_request(json_t *cloud, const json_t *request)
{
    const char *name;
    json_t *value;
    void *next;

    json_object_foreach_safe(cloud, next, name, value)
    {
        if (nova_is_asked(name))
            (void)json_object_del(cloud, name);
    }
    json_object_foreach((json_t *)request, name, value)
    {
        if (nova_is_asked(name) || strcmp(name, "project_id") == 0)
            (void)json_object_set(cloud, name, value);
    }
}

static enum exit_code read_request(const struct args *args, struct arena *a, json_t **ret)
{
    const struct option_values *paths = &args->options[OPT_CLOUD];
    const char *path = args_value(args, OPT_REQUEST, NULL);
    CLEANUP(json_decrefp) json_t *request = NULL;
    const char *project = args_value(args, OPT_PROJECT, NULL);
    CLEANUP(json_decrefp) json_t *cloud = NULL;
    struct nova_move move;
    enum exit_code code = cli_read_cloud(&path, 1, a, &request);

    if (code != EXIT_DONE)
        return code;
    if (!json_is_object(json_object_get(request, "server")) && !nova_find_move(request, &move))
        return cli_fail(
            EXIT_WRONG,
            "%s: /server: missing, expected the body of POST /servers, or server_id and the body of "
            "POST /servers/ID/action",
            path);
    if (paths->n > 0 && (code = cli_read_cloud(paths->items, paths->n, a, &cloud)) != EXIT_DONE)
        return code;
    if (cloud)
        take_request(cloud, request);
    if (project)
        (void)json_object_set_new(cloud ? cloud : request, "project_id", json_string(project));
    *ret = json_incref(cloud ? cloud : request);
    return EXIT_DONE;
}

/* Sets how many servers are asked for, and finds them among the VMs. */
static enum exit_code find_instances(const struct args *args, json_t *cloud, struct snapshot *cluster,
                                     struct arena *a, struct vms_to_place *ret)
{
    json_t *server = json_object_get(cloud, "server");
    const char *text = args_value(args, OPT_NUM_INSTANCES, NULL);
    const char *id = json_string_value(json_object_get(server, "id"));
    unsigned long long n = 0;
    struct nova_move move;
    bool moves = nova_find_move(cloud, &move);
    enum exit_code code;

    if (text && moves)
        return cli_fail(EXIT_WRONG,
                        "ballast place: --num-instances has no meaning for a request to %s a server",
                        move.action);
    if (text && (code = cli_parse_number("num-instances", text, 0, INSTANCES_MAX, &n)) != EXIT_DONE)
        return code;
    if (text && n == 0)
        return cli_fail(EXIT_WRONG, "--num-instances: \"%s\" is wrong, expected at least 1", text);
    if (n > 0)
        (void)json_object_set_new(server, "max_count", json_integer((json_int_t)n));
    if ((code = cli_compile_cloud(nova_compile, cloud, args_value(args, OPT_REQUEST, ""), a, cluster)) !=
        EXIT_DONE)
        return code;
    if (moves)
        return cli_find_vms(&move.server, 1, cluster, a, ret);
    const char **words = arena_array(a, const char *, INSTANCES_MAX);
    size_t found = 0;

    id = id && *id ? id : NOVA_REQUEST_ID;
    if (snapshot_find_vm(cluster, id) != IX_NONE)
        words[found++] = id;
    for (int i = 1; found < INSTANCES_MAX && (i == 1 || found == (size_t)i - 1); i++) {
        const char *one = arena_printf(a, "%s-%d", id, i);
        if (snapshot_find_vm(cluster, one) == IX_NONE)
            break;
        words[found++] = one;
    }
    return cli_find_vms(words, found, cluster, a, ret);
}

static enum exit_code read_nova(const struct args *args, struct arena *a, struct policy *ret_policy,
                                struct vms_to_place *ret, struct place_words *ret_words)
{
    struct nova_move move;
    struct snapshot *cluster = arena_new(a, struct snapshot);
    CLEANUP(json_decrefp) json_t *cloud = NULL;
    enum exit_code code = read_request(args, a, &cloud);

    if (code == EXIT_DONE)
        code = find_instances(args, cloud, cluster, a, ret);
    if (code != EXIT_DONE)
        return code;
    *ret_words = nova_find_move(cloud, &move) ? (struct place_words){move.done, move.to}
                                              : (struct place_words){"powered on", "at"};
    *ret_policy = *cluster->policy;
    return cli_change_settings(&args->options[OPT_SET], a, ret_policy);
}

/* ---- a cloud of oVirt ---- */

static enum exit_code read_ovirt(const struct args *args, struct arena *a, struct policy *ret_policy,
                                 struct vms_to_place *ret)
{
    const struct option_values *paths = &args->options[OPT_CLOUD];
    struct snapshot *cluster = arena_new(a, struct snapshot);
    CLEANUP(json_decrefp) json_t *cloud = NULL;
    enum exit_code code = cli_read_cloud(paths->items, paths->n, a, &cloud);

    if (code != EXIT_DONE ||
        (code = cli_compile_cloud(ovirt_compile, cloud, paths->items[0], a, cluster)) != EXIT_DONE)
        return code;
    *ret_policy = *cluster->policy;
    if ((code = cli_find_vms(args->operands, args->n_operands, cluster, a, ret)) != EXIT_DONE)
        return code;
    return cli_change_settings(&args->options[OPT_SET], a, ret_policy);
}

/* ---- a snapshot ---- */

static enum exit_code read_input(const struct args *args, struct arena *a, struct policy *ret_policy,
                                 struct vms_to_place *ret)
{
    const char *vms_path = args_value(args, OPT_VMS, NULL);
    struct snapshot *cluster = arena_new(a, struct snapshot);
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET],
                                        .adds_vms = vms_path != NULL};
    enum exit_code code;

    if (paths.snapshot && strcmp(paths.snapshot, "-") == 0 && vms_path && strcmp(vms_path, "-") == 0)
        return cli_fail(EXIT_WRONG, "ballast place: --snapshot and --vms cannot both be standard input");
    if ((code = cli_read_cluster(args, &paths, a, ret_policy, cluster)) != EXIT_DONE)
        return code;
    if (!vms_path)
        return cli_find_vms(args->operands, args->n_operands, cluster, a, ret);
    code = cli_read_vms(vms_path, cluster, a, ret);
    return code == EXIT_DONE && paths.config ? cli_ask_units(paths.config, a, &ret->snap) : code;
}

/* Whether the service decides: about VMs that it knows, with the settings that it has. ret_other: an option
 * that is not for that; NULL if it does. */
static bool is_for_service(const struct args *args, const char **ret_other)
{
    static const size_t of_snapshot[] = {OPT_SNAPSHOT, OPT_VMS, OPT_CONFIG, OPT_SET, OPT_PIPELINE};

    *ret_other = NULL;
    for (size_t i = 0; i < COUNT_OF(of_snapshot) && !*ret_other; i++) {
        if (args->options[of_snapshot[i]].n > 0)
            *ret_other = options[of_snapshot[i]].name;
    }
    return !*ret_other;
}

/* The options of a request of OpenStack stand together, without those of a snapshot. */
static enum exit_code check_pipeline(const struct args *args)
{
    static const size_t with[] = {OPT_REQUEST, OPT_CLOUD, OPT_PROJECT, OPT_NUM_INSTANCES};
    static const size_t without[] = {OPT_SNAPSHOT, OPT_VMS, OPT_CONFIG, OPT_APPLY, OPT_SOCKET};
    const char *pipeline = args_value(args, OPT_PIPELINE, NULL);

    for (size_t i = 0; i < COUNT_OF(with); i++)
        if (!pipeline && args->options[with[i]].n > 0)
            return cli_fail(EXIT_WRONG,
                            "ballast place: --%s has no meaning without --pipeline, see ballast place --help",
                            options[with[i]].name);
    for (size_t i = 0; i < COUNT_OF(without); i++)
        if (pipeline && args->options[without[i]].n > 0)
            return cli_fail(EXIT_WRONG,
                            "ballast place: --%s has no meaning with --pipeline, see ballast place --help",
                            options[without[i]].name);
    if (!pipeline)
        return EXIT_DONE;
    bool ovirt = strcmp(pipeline, "ovirt") == 0;
    bool asks_nova =
        args->options[OPT_REQUEST].n + args->options[OPT_PROJECT].n + args->options[OPT_NUM_INSTANCES].n > 0;

    if (!ovirt && strcmp(pipeline, "nova") != 0)
        cli_error("ballast place: --pipeline is \"%s\", expected nova or ovirt", pipeline);
    else if (ovirt && (args->n_operands == 0 || args->options[OPT_CLOUD].n == 0 || asks_nova))
        cli_error("ballast place: --pipeline ovirt takes --cloud PATH and VM..., see ballast place --help");
    else if (!ovirt && (args->n_operands > 0 || args->options[OPT_REQUEST].n == 0))
        cli_error("ballast place: --pipeline nova takes --request FILE and no VM, see ballast place --help");
    else
        return EXIT_DONE;
    return EXIT_WRONG;
}

static enum exit_code check_form(const struct args *args, const char *other)
{
    if (check_pipeline(args) != EXIT_DONE)
        return EXIT_WRONG;
    if (args->options[OPT_PIPELINE].n > 0)
        return EXIT_DONE;
    bool from_file = args->options[OPT_VMS].n > 0;

    if (from_file && args->n_operands > 0)
        cli_error("ballast place: give VM... or --vms FILE, not both, see ballast place --help");
    else if (!from_file && args->n_operands == 0)
        cli_error("ballast place: VM... or --vms FILE is missing, see ballast place --help");
    else if (other && args->options[OPT_APPLY].n > 0)
        cli_error("ballast place: --apply has no meaning with --%s, see ballast place --help", other);
    else
        return EXIT_DONE;
    return EXIT_WRONG;
}

static enum exit_code place_in_snapshot(const struct args *args, struct arena *a, struct strbuf *out)
{
    struct policy policy;
    struct vms_to_place vms;
    struct place_words words;
    struct plan plan;
    struct err err = {0};
    const char *pipeline = args_value(args, OPT_PIPELINE, "");
    bool nova = strcmp(pipeline, "nova") == 0;
    enum exit_code code = nova        ? read_nova(args, a, &policy, &vms, &words)
                          : *pipeline ? read_ovirt(args, a, &policy, &vms)
                                      : read_input(args, a, &policy, &vms);

    if (code != EXIT_DONE)
        return code;
    CLEANUP(thread_pool_freep) struct thread_pool *threads = thread_pool_new(policy.threads);
    policy.thread_pool = threads;
    int64_t began_us = cli_now_us();
    int r = place_run(&vms.snap, &policy, vms.vms, vms.n, a, &plan, &err);
    if (r < 0)
        return cli_fail(r == -EINVAL ? EXIT_WRONG : EXIT_FAILED, "ballast place: %s", err.text);
    plan.stats.decide_us = cli_now_us() - began_us;
    if (args->json)
        render_plan_json(&plan, out);
    else
        render_place_text(&plan, vms.vms, vms.n, nova ? &words : NULL, out);
    if (*pipeline && !nova && render_unplaced_count(&plan, vms.vms, vms.n) > 0)
        place_ovirt_refused(&plan, &vms, args->json, a, out);
    uint32_t unplaced = render_unplaced_count(&plan, vms.vms, vms.n);
    if (unplaced == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_FAILED, "ballast place: %u of %u VM%s cannot be placed, see the faults", unplaced,
                    vms.n, vms.n == 1 ? "" : "s");
}

/* ---- the service ---- */

/* The service accepts UTF-8 only. */
static enum exit_code make_service_request(const struct args *args, bool apply, json_t **ret)
{
    json_t *list = json_array();

    for (size_t i = 0; i < args->n_operands; i++) {
        const char *vm = args->operands[i];

        if (*vm == '\0' || json_array_append_new(list, json_string(vm)) < 0) {
            cli_error("ballast place: \"%s\" is not the id or name of a VM", vm);
            json_decref(list);
            return EXIT_WRONG;
        }
    }
    *ret = json_pack("{s:s, s:o, s:b}", "command", "place", "vms", list, "apply", apply);
    return EXIT_DONE;
}

/* Prints the plan as `plan` does. */
static void show_plan(const json_t *reply, bool json, struct strbuf *out)
{
    const char *text = reply_text(reply, json ? "plan" : "text");

    strbuf_puts(out, text ? text : "");
}

static void show_begun(const json_t *reply, bool json, struct arena *a, struct strbuf *out)
{
    const json_t *actions = json_object_get(reply, "actions");

    if (json)
        reply_dump(actions, out);
    else
        action_table_print(reply, actions, a, out);
}

/* Asks the service for hosts for the operands, VMs by their ids or names; with apply, powers them on. Prints
 * the plan, or with apply the started actions. If a VM has no host, nothing is started: the plan is printed,
 * one line goes to standard error, and the result is EXIT_FAILED. */
static enum exit_code place_service(const struct args *args, bool apply, struct arena *a, struct strbuf *out)
{
    json_t *request = NULL;
    json_t *reply = NULL;
    enum exit_code code;

    if ((code = make_service_request(args, apply, &request)) != EXIT_DONE ||
        (code = client_call(args->socket, request, &reply)) != EXIT_DONE)
        return code;
    int64_t n = reply_int(reply, "vms");
    int64_t unplaced = reply_int(reply, "unplaced");

    if (apply && unplaced == 0)
        show_begun(reply, args->json, a, out);
    else
        show_plan(reply, args->json, out);
    json_decref(reply);
    if (unplaced == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_FAILED, "ballast place: %lld of %lld VM%s cannot be placed, see the faults%s",
                    (long long)unplaced, (long long)n, n == 1 ? "" : "s",
                    apply ? "; nothing was started" : "");
}

/* ---- the verb ---- */

static enum exit_code verb_place_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *other;
    bool at_service = is_for_service(args, &other);
    enum exit_code code = check_form(args, other);

    if (code != EXIT_DONE)
        return code;
    return at_service ? place_service(args, args->options[OPT_APPLY].n > 0, a, out)
                      : place_in_snapshot(args, a, out);
}

const struct verb verb_place = {
    .name = "place",
    .summary = "Find hosts on which to power VMs on, and the actions needed first; --apply powers them "
               "on.",
    .more =
        "VM is the id or name of a VM that is off or suspended. With --vms, the VMs are objects as in "
        "a snapshot, without a host: a new VM needs id, vcpus and mem_mb; one of the snapshot needs "
        "its id only.\n"
        "Settings: as for `ballast plan`; without --snapshot those of the service. The external units of "
        "the pipelines are asked about new VMs if --config names them.\n"
        "With --apply the service carries the plan out, whatever its automation level, and the actions "
        "are printed. Nothing is started if one of the VMs cannot be placed; where only VMs on their way "
        "take the room, the request waits for them, for placement.lock_wait_s at most.\n"
        "\n"
        "--pipeline nova takes a request as OpenStack has it, instead of VM...: its servers go where Nova's "
        "filters and weighers send them, for example `ballast place --pipeline nova --cloud DIR --request "
        "server.json --num-instances 3`. A server that is there moves by {\"server_id\": ID, \"migrate\": "
        "null}; "
        "likewise os-migrateLive, resize, evacuate, unshelve and rebuild.\n"
        "--pipeline ovirt places VMs of a cloud of oVirt that are down, by the policy of their cluster: "
        "`ballast "
        "place --pipeline ovirt --cloud cloud.json VM`. If there is no host, each host's refusal is printed "
        "as oVirt's "
        "engine says it.\n"
        "\n"
        "Several VMs are placed together. Each is assumed to use its configured memory and a core "
        "for each vCPU. NEEDS: actions that must be done first, such as moving another VM or "
        "waking a host. For a single VM the other possible hosts are listed, best first. `ballast "
        "explain --vm VM` shows what each stage of its pipeline gives them. If a VM cannot be "
        "placed, the plan is printed and the exit code is 1.",
    .operands = "[VM...]",
    .operands_max = 1000,
    .options = options,
    .n_options = COUNT_OF(options),
    .answers_no = true,
    .run = verb_place_run,
};
