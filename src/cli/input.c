/* input.c: reads snapshots, VMs, settings, numbers and times from files and options. */
#include "cli/input.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/client.h"
#include "cli/output.h"
#include "config/config.h"
#include "decision/decision.h"
#include "model/named.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "model/snapshot_to_inventory.h"
#include "overlay/overlay.h"
#include "schedule/when.h"
#include "units/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void warn_of_unknown(const char *path, const struct unknown_fields *unknown, struct arena *a)
{
    for (size_t i = 0; i < unknown->n; i++)
        cli_error("warning: %s: %s", path, reader_unknown_text(&unknown->items[i], a));
    if (unknown->more > 0)
        cli_error("warning: %s: and %zu more unknown fields, ignored", path, unknown->more);
}

/* Reads, checks and builds the snapshot. Warns about unknown fields if the snapshot is valid. */
static enum exit_code read_snapshot(const char *path, struct arena *a, struct snapshot *ret)
{
    struct unknown_fields unknown = {0};
    struct err err = {0};

    if (snapshot_load(path, a, ret, &unknown, &err) < 0)
        return cli_fail(EXIT_WRONG, "%s", err.text);
    warn_of_unknown(path, &unknown, a);
    return EXIT_DONE;
}

enum exit_code cli_read_vms(const char *path, const struct snapshot *cluster, struct arena *a,
                            struct vms_to_place *ret)
{
    struct unknown_fields unknown = {0};
    struct err err = {0};

    if (vms_json_load(path, cluster, a, ret, &unknown, &err) < 0)
        return cli_fail(EXIT_WRONG, "%s", err.text);
    warn_of_unknown(path, &unknown, a);
    for (int i = 0; i < VMS_IGNORED_COUNT; i++) {
        const char *text = vms_json_ignored_text(ret, (enum vms_ignored)i, a);
        if (text)
            cli_error("warning: %s: %s", path, text);
    }
    return EXIT_DONE;
}

enum exit_code cli_find_vms(const char *const *words, size_t n, const struct snapshot *cluster,
                            struct arena *a, struct vms_to_place *ret)
{
    CLEANUP(json_decrefp) json_t *list = json_array();
    struct err err = {0};

    for (size_t i = 0; i < n; i++) {
        uint32_t vm = IX_NONE;

        if (named_vm(cluster, words[i], &vm, &err) < 0)
            return cli_fail(EXIT_WRONG, "%s", err.text);
        if (cluster->vms[vm].is.state == VM_ON)
            return cli_fail(EXIT_WRONG, "\"%s\" runs already, expected a VM that is off or suspended",
                            words[i]);
        (void)json_array_append_new(list, json_pack("{s:s}", "id", cluster->vms[vm].is.id));
    }
    CLEANUP(freep) char *text = json_dumps(list, JSON_COMPACT);

    if (vms_read(text, strlen(text), cluster, a, ret, NULL, &err) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "%s", err.text);
}

static enum exit_code load_config(const char *path, struct arena *a, struct config *ret)
{
    struct err err = {0};

    if (config_load_for(path, CONFIG_FOR_POLICY, a, ret, &err) < 0)
        return cli_fail(EXIT_WRONG, "%s", err.text);
    for (size_t i = 0; i < ret->n_warnings; i++)
        cli_error("warning: %s", ret->warnings[i]);
    return EXIT_DONE;
}

/* warns: false where the settings are set again later. */
static enum exit_code set_settings(const struct option_values *sets, bool warns, struct arena *a,
                                   struct policy *ret)
{
    struct decision_warnings warnings = {0};
    struct err err = {0};

    if (decision_change_settings(sets->items, sets->n, a, ret, &warnings, &err) < 0)
        return cli_fail(EXIT_WRONG, "--set: %s", err.text);
    for (size_t i = 0; warns && i < warnings.n; i++)
        cli_error("warning: --set: %s", warnings.items[i]);
    return EXIT_DONE;
}

/* The rules and settings of VMs and hosts that the configuration has now; those that it had when the snapshot
 * was made go. */
static enum exit_code lay_over(const struct overlay *overlay, struct arena *a, struct snapshot *s)
{
    struct overlay_findings found = {0};
    struct inventory inv;
    struct err err = {0};

    snapshot_to_inventory(s, a, &inv);
    overlay_apply(overlay, &inv, a, &found);
    for (size_t i = 0; i < found.n; i++)
        cli_error("warning: %s", found.items[i]);
    if (snapshot_build(&inv, a, s, &err) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "%s", err.text);
}

/* The snapshot gets the answers of the configuration's external units. */
static enum exit_code ask_units(const struct config *c, struct arena *a, struct snapshot *s)
{
    struct inventory answers = {0};
    struct err err = {0};

    if (!snapshot_asks_units(s) || c->n_units == 0)
        return EXIT_DONE;
    s->n_answers = 0;
    for (uint32_t i = 0; i < s->n_vms; i++)
        s->vms[i].n_answers = 0;
    struct units *units = units_new(c->units, c->n_units, NULL);

    units_ask(units, s, s->time, a, &answers);
    units_free(units);
    if (snapshot_build_answers(&answers, a, s, &err) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_FAILED, "%s", err.text);
}

enum exit_code cli_ask_units(const char *config_path, struct arena *a, struct snapshot *s)
{
    struct config config = {0};
    struct err err = {0};

    if (config_load_for(config_path, CONFIG_FOR_POLICY, a, &config, &err) == 0)
        return ask_units(&config, a, s);
    return cli_fail(EXIT_WRONG, "%s", err.text);
}

/* The snapshot of the service's last pass; before the first pass, of its last inventory. */
static enum exit_code ask_snapshot(const char *socket, struct arena *a, struct snapshot *ret)
{
    static const char whose[] = "the service's snapshot";
    CLEANUP(json_decrefp) json_t *reply = NULL;
    struct unknown_fields unknown = {0};
    struct inventory inv;
    struct err err = {0};
    enum exit_code code = client_call(socket, json_pack("{s:s}", "command", "snapshot"), &reply);

    if (code != EXIT_DONE)
        return code;
    const char *text = reply_text(reply, "snapshot");

    if (snapshot_read_inventory(text ? text : "", text ? strlen(text) : 0, a, &inv, &unknown, &err) < 0 ||
        snapshot_build(&inv, a, ret, &err) < 0)
        return cli_fail(EXIT_FAILED, "%s: %s", whose, err.text);
    warn_of_unknown(whose, &unknown, a);
    return EXIT_DONE;
}

enum exit_code cli_read_cluster(const struct args *args, const struct cluster_paths *paths, struct arena *a,
                                struct policy *ret_policy, struct snapshot *ret)
{
    struct config config = {0};
    enum exit_code code;

    if (paths->snapshot && args->socket)
        return cli_fail(EXIT_WRONG, "--socket has no meaning with --snapshot");
    policy_default(&config.policy);
    if (paths->config && (code = load_config(paths->config, a, &config)) != EXIT_DONE)
        return code;
    *ret_policy = config.policy;
    if ((code = set_settings(paths->sets, paths->config != NULL, a, ret_policy)) !=
            EXIT_DONE || /* before a long read */
        (code = paths->snapshot ? read_snapshot(paths->snapshot, a, ret)
                                : ask_snapshot(args->socket, a, ret)) != EXIT_DONE)
        return code;
    if (paths->config) {
        code = lay_over(&config.overlay, a, ret);
        return code != EXIT_DONE || ret->n_answers > 0 || paths->adds_vms ? code : ask_units(&config, a, ret);
    }
    if (ret->policy)
        *ret_policy = *ret->policy;
    else
        policy_default(ret_policy);
    return set_settings(paths->sets, true, a, ret_policy);
}

enum exit_code cli_change_settings(const struct option_values *sets, struct arena *a, struct policy *ret)
{
    return set_settings(sets, true, a, ret);
}

enum exit_code cli_parse_number(const char *option, const char *text, unsigned long long least,
                                unsigned long long most, unsigned long long *ret)
{
    char *end;

    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || v < least || v > most)
        return cli_fail(EXIT_WRONG, "--%s: \"%s\" is wrong, expected a whole number from %llu to %llu",
                        option, text, least, most);
    *ret = v;
    return EXIT_DONE;
}

enum exit_code cli_parse_time(const char *option, const char *text, instant_s *ret)
{
    struct err err = {0};

    if (when_parse(text, (instant_s)time(NULL), ret, &err) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "--%s: %s", option, err.text);
}

int64_t cli_now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}
