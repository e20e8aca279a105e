/* ballast fit: a cloud in the words of another scheduler, checked, shown or compiled to a snapshot with
 * pipelines. */
#include "core/fit/fit.h"
#include "base/cleanup.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "dialect/nova/nova.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <string.h>

/* ---- input ---- */

/* The snapshot of the cloud in the file. */
static enum exit_code load(const char *path, struct arena *a, struct snapshot *ret)
{
    json_error_t where;
    struct err err = {0};
    struct inventory inv;
    CLEANUP(json_decrefp)
    json_t *cloud = strcmp(path, "-") == 0 ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &where)
                                           : json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    CLEANUP(json_decrefp) json_t *made = NULL;

    if (!cloud) {
        cli_error("%s: line %d: %s", path, where.line, where.text);
        return EXIT_WRONG;
    }
    if (nova_compile(cloud, a, &made, &err) < 0) {
        cli_error("%s: %s", path, err.text);
        return EXIT_WRONG;
    }
    CLEANUP(freep) char *text = json_dumps(made, JSON_COMPACT);

    if (snapshot_read_inventory(text, strlen(text), a, &inv, NULL, &err) == 0 &&
        snapshot_build(&inv, a, ret, &err) == 0)
        return EXIT_DONE;
    cli_error("%s: compiled: %s", path, err.text);
    return EXIT_WRONG;
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

/* The hosts that each stage leaves to the first VM of the pipeline; the others may differ in nothing that a
 * dialect compiles. */
static void show_pipeline(const struct snapshot *s, const struct fit *fit, uint32_t pipeline, struct arena *a,
                          struct strbuf *out)
{
    const struct stage_left *left;
    uint64_t *all = arena_array(a, uint64_t, fit->words);
    uint32_t vm = IX_NONE;
    uint32_t n_vms = vms_with(s, pipeline, &vm);

    for (uint32_t h = 0; h < s->n_hosts; h++)
        all[h / 64] |= UINT64_C(1) << (h % 64);
    strbuf_printf(out, "%s: %u VM%s, %u hosts\n", s->pipelines[pipeline].name, n_vms, n_vms == 1 ? "" : "s",
                  s->n_hosts);
    uint32_t n = fit_hosts_left(fit, FIT_PLACE, vm, all, a, &left);

    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(out, "    %s: %u\n", s->stages[left[i].stage].is.name, left[i].hosts);
}

static void show(const struct snapshot *s, struct arena *a, struct strbuf *out)
{
    struct fit fit;

    fit_compile(s, a, &fit);
    for (uint32_t p = 0; p < s->n_pipelines; p++)
        show_pipeline(s, &fit, p, a, out);
}

/* ---- the verb ---- */

static enum exit_code verb_fit_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *what = args->operands[0];
    struct snapshot s;

    if (strcmp(what, "check") != 0 && strcmp(what, "show") != 0 && strcmp(what, "compile") != 0) {
        cli_error("ballast fit: expected check FILE, show FILE or compile FILE");
        return EXIT_WRONG;
    }
    enum exit_code code = load(args->operands[1], a, &s);

    if (code != EXIT_DONE)
        return code;
    if (strcmp(what, "show") == 0)
        show(&s, a, out);
    else if (strcmp(what, "compile") == 0)
        snapshot_dump(&s, out);
    else
        strbuf_printf(out, "ok: hosts %u, VMs %u, groups %u, pipelines %u\n", s.n_hosts, s.n_vms, s.n_groups,
                      s.n_pipelines);
    return EXIT_DONE;
}

const struct verb verb_fit = {
    .name = "fit",
    .summary = "Check, show or compile placement rules of OpenStack Nova.",
    .more = "FILE is a JSON object with nova.conf and the lists of the OpenStack API: hypervisors, "
            "aggregates, flavors, images, servers, server_groups, and server for a request; - reads standard "
            "input.\n"
            "\n"
            "`check` reads and compiles it. `show` prints for each pipeline how many hosts each filter "
            "leaves. `compile` prints a snapshot with the pipelines, for example to place the request: "
            "`ballast fit compile FILE | ballast place --snapshot - request`.",
    .operands = "check|show|compile FILE",
    .operands_min = 2,
    .operands_max = 2,
    .run = verb_fit_run,
};
