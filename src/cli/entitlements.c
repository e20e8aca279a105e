/* ballast entitlements: settings, demand and entitlement of pools and VMs in a snapshot. */
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "render/render.h"

#include <string.h>

enum { OPT_SNAPSHOT, OPT_RESOURCE, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = {"snapshot", "FILE", OPTION_REQUIRED, "snapshot of the cluster; - reads standard input"},
    [OPT_RESOURCE] = {"resource", "cpu|mem", 0, "show only this resource"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const char *const res_word[RES_COUNT] = {[RES_CPU] = "cpu", [RES_MEM] = "mem"};

static enum exit_code wanted_resources(const char *word, bool ret[RES_COUNT])
{
    bool any = false;

    for (int r = 0; r < RES_COUNT; r++) {
        ret[r] = !word || strcmp(word, res_word[r]) == 0;
        any = any || ret[r];
    }
    if (any)
        return EXIT_DONE;
    cli_error("--resource: \"%s\" is not known, expected cpu or mem", word);
    return EXIT_WRONG;
}

static enum exit_code verb_entitlements_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const struct divvy_tree *trees[RES_COUNT] = {NULL};
    bool wanted[RES_COUNT];
    enum cli_format format;
    struct snapshot snap;
    enum exit_code code;

    if ((code = cli_parse_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (code = wanted_resources(args_value(args, OPT_RESOURCE, NULL), wanted)) != EXIT_DONE ||
        (code = cli_read_snapshot(args_value(args, OPT_SNAPSHOT, "-"), a, &snap)) != EXIT_DONE)
        return code;
    for (int r = 0; r < RES_COUNT; r++) {
        if (!wanted[r])
            continue;
        double *demand = arena_array(a, double, snap.n_vms);
        struct divvy_tree *tree = arena_new(a, struct divvy_tree);
        demand_estimate(&snap, (enum resource)r, demand);
        divvy_build(&snap, (enum resource)r, demand, a, tree);
        trees[r] = tree;
    }
    if (format == FORMAT_JSON)
        render_entitlements_json(&snap, trees, out);
    else
        render_entitlements_text(&snap, trees, out);
    return EXIT_DONE;
}

const struct verb verb_entitlements = {
    .name = "entitlements",
    .summary = "Show the settings, demand and entitlement of every resource pool and VM.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_entitlements_run,
};
