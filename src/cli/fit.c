/* ballast fit: a cloud in the words of another scheduler, checked, shown or compiled to a snapshot with
 * pipelines. */
#include "base/cleanup.h"
#include "cli/cloud.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "dialect/flexiant/flexiant.h"
#include "dialect/nova/nova.h"
#include "dialect/ovirt/ovirt.h"
#include "model/named.h"
#include "model/snapshot_json.h"
#include "render/table.h"

#include <string.h>

/* ---- input ---- */

/* Whose words a cloud is written in. show_customer: what one of its customers sees; NULL: it has no such
 * view. */
struct dialect {
    const char *name;
    cloud_compile *compile;
    int (*show_customer)(const json_t *cloud, const char *customer, struct arena *a, struct strbuf *out,
                         struct err *err);
};

/* The first is that of a cloud that names none. */
static const struct dialect dialects[] = {
    {"nova", nova_compile, NULL},
    {"flexiant", flexiant_compile, flexiant_show_customer},
    {"ovirt", ovirt_compile, NULL},
};

static const struct dialect *dialect_of(const char *path, const json_t *cloud)
{
    const json_t *member = json_object_get(cloud, "dialect");
    const char *name = json_string_value(member);

    for (size_t i = 0; i < COUNT_OF(dialects); i++)
        if (!member || (name && strcmp(dialects[i].name, name) == 0))
            return &dialects[i];
    cli_error("%s: /dialect: expected \"nova\", \"flexiant\" or \"ovirt\"", path);
    return NULL;
}

/* ---- output ---- */

static uint32_t vms_with(const struct snapshot *s, uint32_t pipeline, uint32_t *ret_first)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < s->n_vms; v++) {
        if (s->vms[v].pipeline != pipeline)
            continue;
        if (n++ == 0)
            *ret_first = v;
    }
    return n;
}

/* The hosts that each stage leaves to this VM, or to the first one of the pipeline: others may have more or
 * fewer. */
static void show_pipeline(const struct pass *p, uint32_t pipeline, uint32_t wanted, struct arena *a,
                          struct strbuf *out)
{
    const struct snapshot *s = p->snap;
    const struct fit *fit = &p->rules.fit;
    const struct fit_live live = layout_live(&p->layout);
    const struct stage_left *left;
    uint64_t *all = arena_array(a, uint64_t, fit->words);
    uint32_t vm = IX_NONE;
    uint32_t n_vms = vms_with(s, pipeline, &vm);

    for (uint32_t h = 0; h < s->n_hosts; h++)
        all[h / 64] |= UINT64_C(1) << (h % 64);
    strbuf_printf(out, "%s: %u VM%s, %u hosts", s->pipelines[pipeline].name, n_vms, n_vms == 1 ? "" : "s",
                  s->n_hosts);
    if (wanted != IX_NONE)
        vm = wanted;
    if (vm == IX_NONE) {
        strbuf_puts(out, "\n");
        return;
    }
    strbuf_puts(out, "; left to ");
    table_put_text(out, s->vms[vm].is.name);
    strbuf_puts(out, ":\n");
    uint32_t n = fit_hosts_left(fit, FIT_PLACE, vm, all, &live, a, &left);

    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(out, "    %s: %u\n", s->stages[left[i].stage].is.name, left[i].hosts);
}

/* vm: of its pipeline alone; IX_NONE: of each pipeline. */
static void show(const struct snapshot *s, uint32_t vm, struct arena *a, struct strbuf *out)
{
    struct pass *pass = arena_new(a, struct pass);
    struct policy policy;

    policy_default(&policy);
    pass_prepare(pass, s, &policy, RULES_PREFERRED, IX_NONE, a);
    for (uint32_t i = 0; i < s->n_pipelines; i++)
        if (vm == IX_NONE || s->vms[vm].pipeline == i)
            show_pipeline(pass, i, vm, a, out);
}

/* ---- the verb ---- */

enum { OPT_CUSTOMER, OPT_VM };

static const struct option_spec options[] = {
    [OPT_CUSTOMER] = {"customer", "ID", 0, "with show: what this customer of a cloud of Flexiant sees"},
    [OPT_VM] = {"vm", "VM", 0,
                "with show: the hosts left to this VM; default: to the first one of each pipeline"},
};

static enum exit_code show_customer(const char *path, const struct dialect *dialect, const json_t *cloud,
                                    const char *customer, struct arena *a, struct strbuf *out)
{
    struct err err = {0};

    if (!dialect->show_customer)
        return cli_fail(EXIT_WRONG, "%s: a cloud of %s has no view of a customer", path, dialect->name);
    if (dialect->show_customer(cloud, customer, a, out, &err) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "%s: %s", path, err.text);
}

static enum exit_code show_left(const struct snapshot *s, const char *word, struct arena *a,
                                struct strbuf *out)
{
    struct err err = {0};
    uint32_t vm = IX_NONE;

    if (word && named_vm(s, word, &vm, &err) < 0)
        return cli_fail(EXIT_WRONG, "ballast fit: --vm: %s", err.text);
    show(s, vm, a, out);
    return EXIT_DONE;
}

static enum exit_code verb_fit_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *what = args->operands[0];
    const char *path = args->operands[1];
    const char *customer = args_value(args, OPT_CUSTOMER, NULL);
    const char *vm = args_value(args, OPT_VM, NULL);
    struct snapshot s;

    if (strcmp(what, "check") != 0 && strcmp(what, "show") != 0 && strcmp(what, "compile") != 0)
        return cli_fail(EXIT_WRONG, "ballast fit: expected check FILE..., show FILE... or compile FILE...");
    if ((customer || vm) && (strcmp(what, "show") != 0 || (customer && vm)))
        return cli_fail(EXIT_WRONG, "ballast fit: --%s has no meaning %s, see ballast fit --help",
                        customer ? "customer" : "vm", customer && vm ? "with --vm" : "without show");
    CLEANUP(json_decrefp) json_t *cloud = NULL;
    enum exit_code code = cli_read_cloud(args->operands + 1, args->n_operands - 1, a, &cloud);
    const struct dialect *dialect = code == EXIT_DONE ? dialect_of(path, cloud) : NULL;

    if (!dialect)
        return EXIT_WRONG;
    if (customer)
        return show_customer(path, dialect, cloud, customer, a, out);
    if ((code = cli_compile_cloud(dialect->compile, cloud, path, a, &s)) != EXIT_DONE)
        return code;
    if (strcmp(what, "show") == 0)
        return show_left(&s, vm, a, out);
    if (strcmp(what, "compile") == 0)
        snapshot_dump(&s, out);
    else
        strbuf_printf(out, "ok: hosts %u, VMs %u, groups %u, pipelines %u\n", s.n_hosts, s.n_vms, s.n_groups,
                      s.n_pipelines);
    return EXIT_DONE;
}

const struct verb verb_fit = {
    .name = "fit",
    .summary = "Check, show or compile placement rules of OpenStack Nova, Flexiant or oVirt.",
    .more =
        "FILE is a JSON object; - reads standard input. With nova.conf and the lists of the OpenStack API it "
        "is a cloud of Nova: hypervisors, aggregates, flavors, images, servers, server_groups, and server "
        "for a request. With \"dialect\": \"flexiant\" it is one of Flexiant: clusters, nodes, "
        "billing_entities, customers, product_offers, images, vdcs, networks, servers, settings, and the "
        "placement keys on them. With \"dialect\": \"ovirt\" it is one of oVirt, in the words of its REST "
        "API: "
        "clusters, scheduling_policies, hosts, vms, affinity_groups and affinity_labels. Several files, or a "
        "folder, are one cloud: nova.conf itself, answers of the "
        "API such as "
        "servers.json, or lists named by their files.\n"
        "\n"
        "`check` reads and compiles it. `show` prints for each pipeline how many hosts each filter "
        "leaves to a VM. `compile` prints a snapshot with the pipelines, for example to place the request: "
        "`ballast fit compile FILE | ballast place --snapshot - request`.",
    .operands = "check|show|compile FILE...",
    .operands_min = 2,
    .operands_max = 1000,
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_fit_run,
};
