/* ballast generate: a synthetic snapshot. */
#include "model/generate.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

enum { OPT_HOSTS, OPT_VMS, OPT_SEED, OPT_SHAPE, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_HOSTS] = {"hosts", "N", OPTION_REQUIRED, "number of hosts"},
    [OPT_VMS] = {"vms", "M", OPTION_REQUIRED, "number of VMs"},
    [OPT_SEED] = {"seed", "S", 0, "the same seed gives the same cluster; default 0"},
    [OPT_SHAPE] = {"shape", "uniform|skewed|spike|pools", 0, "how the load is spread; default uniform"},
    [OPT_FORMAT] = {"format", "text|json", 0, "no difference: a snapshot is always JSON"},
};

static enum exit_code read_options(const struct args *args, struct generate_options *ret)
{
    const char *shape = args_value(args, OPT_SHAPE, "uniform");
    unsigned long long hosts;
    unsigned long long vms;
    unsigned long long seed;
    enum exit_code code;

    if ((code = cli_parse_number("hosts", args_value(args, OPT_HOSTS, ""), 0, GENERATE_HOSTS_MAX, &hosts)) !=
            EXIT_DONE ||
        (code = cli_parse_number("vms", args_value(args, OPT_VMS, ""), 0, GENERATE_VMS_MAX, &vms)) !=
            EXIT_DONE ||
        (code = cli_parse_number("seed", args_value(args, OPT_SEED, "0"), 0, UINT64_MAX, &seed)) != EXIT_DONE)
        return code;
    *ret = (struct generate_options){.hosts = (uint32_t)hosts, .vms = (uint32_t)vms, .seed = seed};
    (void)generate_shape_parse(shape, &ret->shape); /* options.c knows the words */
    return EXIT_DONE;
}

static enum exit_code verb_generate_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    struct generate_options chosen;
    struct inventory inventory;
    struct snapshot snap;
    struct err err = {0};
    enum exit_code code = read_options(args, &chosen);

    if (code != EXIT_DONE)
        return code;
    if (generate(&chosen, a, &inventory, &err) < 0)
        return cli_fail(EXIT_WRONG, "ballast generate: %s", err.text);
    if (snapshot_build(&inventory, a, &snap, &err) < 0)
        return cli_fail(EXIT_FAILED, "ballast generate: %s", err.text);
    snapshot_dump(&snap, out);
    return EXIT_DONE;
}

const struct verb verb_generate = {
    .name = "generate",
    .summary = "Generate a cluster and print it as a snapshot.",
    .more = "Shapes:\n"
            "  uniform  every host about half loaded: nothing to do\n"
            "  skewed   host CPU loads from .1 to 1, mean .55 and standard deviation .25\n"
            "  spike    four pools of small VMs, half just woken up, on half of the hosts\n"
            "  pools    pools three deep, contention, two sizes of hosts, all kinds of rules",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_generate_run,
};
