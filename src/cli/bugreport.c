/* ballast bugreport: what a developer needs to know of a service, in one archive, without secrets. */
#include "base/cleanup.h"
#include "base/mask.h"
#include "base/program.h"
#include "cli/bundle.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "config/config.h"
#include "config/harmless.h"
#include "render/table.h"
#include "schema/yaml_tree.h"

#include <curl/curl.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#define CONFIG_DEFAULT "/etc/ballast/ballast.yaml"
#define LOG_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define LOG_LINES "20000"
#define JOURNAL_S 30 /* for journalctl */
#define US_PER_S INT64_C(1000000)
#define PASSES 5            /* the last ones, each with its plan and its snapshot */
#define PASSES_LOOKED_AT 20 /* some are no plans, or were kept without a snapshot */
#define BYTES_MAX                                                                                            \
    ((size_t)128 * 1024 * 1024) /* of all texts; beyond, the snapshots of older passes are left out */

enum { OPT_SOCKET, OPT_CONFIG, OPT_LOG };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_CONFIG] = {"config", "FILE", 0, "the service's configuration; default " CONFIG_DEFAULT},
    [OPT_LOG] = {"log", "FILE", 0, "the service's log; default: the journal of the units ballastd*"},
};

static const char read_me[] =
    "A report of one Ballast service, made by `ballast bugreport`.\n\n"
    "versions        of Ballast, its libraries and the system\n"
    "configuration   its keys; values where they are known to be harmless\n"
    "log             the last lines of the service's log\n"
    "replies/        what the service answers to the commands of these names\n"
    "plans/          the last passes, each as `ballast plan --pass N` replays it\n"
    "snapshots/      what these passes decided from\n"
    "missing         what could not be had, and why\n\n"
    "It has names of hosts and VMs, addresses and users. Passwords stand in files that it leaves out. Of the "
    "configuration, ***\nreplaces every text that may be a secret, such as the arguments of commands; in all "
    "texts what looks like one: users and\npaths in URLs, values of keys and options such as password, "
    "tokens.\n";

struct report {
    struct bundle *bundle;
    struct arena *a;
    const char *socket;
    struct strbuf missing;
    size_t bytes;        /* added */
    enum exit_code code; /* of the first member that could not be added */
};

static void add(struct report *r, const char *name, const char *text, size_t len)
{
    CLEANUP(strbuf_releasep) struct strbuf masked = STRBUF_EMPTY;
    struct err err = {0};

    mask_secrets(text, len, &masked);
    r->bytes += masked.len;
    if (r->code == EXIT_DONE && bundle_add(r->bundle, name, masked.text, masked.len, &err) < 0) {
        cli_error("ballast bugreport: %s", err.text);
        r->code = EXIT_FAILED;
    }
}

static void miss(struct report *r, const char *name, const char *why)
{
    strbuf_printf(&r->missing, "%s: %s\n", name, why);
}

/* ---- versions and configuration -------------------------------------------------------------- */

static void add_versions(struct report *r)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    CLEANUP(fclosep) FILE *f = fopen("/etc/os-release", "re");
    struct utsname u;
    char line[256];

    strbuf_printf(&text, "ballast " BALLAST_VERSION "\n%s\nsqlite %s\njansson %s\n", curl_version(),
                  sqlite3_libversion(), JANSSON_VERSION);
    if (uname(&u) == 0)
        strbuf_printf(&text, "%s %s %s\n", u.sysname, u.release, u.machine);
    while (f && fgets(line, sizeof line, f))
        strbuf_puts(&text, line);
    add(r, "versions", text.text, text.len);
}

static void add_configuration(struct report *r, const char *path)
{
    struct node *root = NULL;
    struct err err = {0};
    char *text;
    size_t len;

    if (config_read_text(path, r->a, &text, &len, &err) < 0 ||
        yaml_tree_parse(path, text, len, r->a, &root, &err) < 0) {
        miss(r, "configuration", err.text);
        return;
    }
    CLEANUP(strbuf_releasep) struct strbuf shown = STRBUF_EMPTY;

    config_put_harmless(root, r->a, &shown);
    add(r, "configuration", shown.text, shown.len);
}

/* ---- the log --------------------------------------------------------------------------------- */

/* Only members of systemd-journal or adm may read the journal. */
static void add_journal(struct report *r)
{
    static const char *const argv[] = {
        "/usr/bin/journalctl", "--no-pager",       "--quiet", "--output=short-iso",
        "--lines=" LOG_LINES,  "--unit=ballastd*", NULL};
    const struct program journal = {
        .argv = argv, .output_max = LOG_BYTES_MAX, .deadline_us = cli_now_us() + JOURNAL_S * US_PER_S};
    struct program_result result = {0};

    if (program_run(&journal, &result) == 0 && result.output.len > 0)
        add(r, "log", result.output.text, result.output.len);
    else
        miss(r, "log",
             "the journal has nothing of ballastd*, or this user may not read it; --log names a file");
    program_result_release(&result);
}

/* The end of a file. */
static void add_log_file(struct report *r, const char *path)
{
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    CLEANUP(freep) char *text = malloc(LOG_BYTES_MAX);
    long long size = f && fseeko(f, 0, SEEK_END) == 0 ? (long long)ftello(f) : -1;
    const long long from = size > (long long)LOG_BYTES_MAX ? size - (long long)LOG_BYTES_MAX : 0;

    if (!text || size < 0 || fseeko(f, from, SEEK_SET) < 0) {
        miss(r, "log", arena_printf(r->a, "%s: %s", path, strerror(errno)));
        return;
    }
    const size_t len = fread(text, 1, LOG_BYTES_MAX, f);

    if (ferror(f))
        miss(r, "log", arena_printf(r->a, "%s: %s", path, strerror(errno)));
    else
        add(r, "log", text, len);
}

/* ---- the service ----------------------------------------------------------------------------- */

/* The requests whose replies tell a developer the most; one that fails is named. */
static const struct {
    const char *name, *request, *member; /* member NULL: all of the reply */
} replies[] = {
    {"status", "{\"command\": \"status\"}", "status"},
    {"hosts", "{\"command\": \"hosts\"}", "hosts"},
    {"pools", "{\"command\": \"pools\"}", "pools"},
    {"recommendations", "{\"command\": \"recommendations\"}", NULL},
    {"history", "{\"command\": \"history\", \"limit\": 1000}", "history"},
    {"events", "{\"command\": \"events\", \"limit\": 1000}", "events"},
    {"energy", "{\"command\": \"energy\"}", NULL},
    {"schedule", "{\"command\": \"schedule\", \"limit\": 50}", NULL},
    {"forecast", "{\"command\": \"forecast\"}", NULL},
    {"metrics", "{\"command\": \"metrics\"}", "metrics"},
    {"config_diff", "{\"command\": \"config_diff\"}", NULL},
    {"snapshot", "{\"command\": \"snapshot\"}", "snapshot"},
};

static void add_value(struct report *r, const char *name, const json_t *value)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;

    if (json_is_string(value))
        strbuf_puts(&text, json_string_value(value));
    else
        reply_dump(value, &text);
    add(r, arena_printf(r->a, "%s.%s", name, *text.text == '{' || *text.text == '[' ? "json" : "txt"),
        text.text, text.len);
}

/* false: it was refused, and `missing` says so. */
static bool add_reply(struct report *r, const char *name, json_t *request, const char *member)
{
    json_t *reply = NULL;
    enum exit_code code = client_call(r->socket, request, &reply);
    json_t *change;
    size_t i;

    if (code != EXIT_DONE) {
        miss(r, name, code == EXIT_UNREACHABLE ? "the service did not answer" : "the service refused it");
        return false;
    }
    json_array_foreach(json_object_get(json_object_get(reply, "config_diff"), "changes"), i, change)
    {
        (void)json_object_del(change, "now"); /* values of the configuration */
        (void)json_object_del(change, "then");
    }
    add_value(r, name, member ? json_object_get(reply, member) : reply);
    json_decref(reply);
    return true;
}

static void add_pass(struct report *r, json_int_t id)
{
    const char *name = arena_printf(r->a, "snapshots/%lld", (long long)id);

    (void)add_reply(r, arena_printf(r->a, "plans/%lld", (long long)id),
                    json_pack("{s:s, s:I}", "command", "plan", "pass", id), "plan");
    if (r->bytes >= BYTES_MAX)
        miss(r, name, "the report is large already");
    else
        (void)add_reply(r, name, json_pack("{s:s, s:I}", "command", "snapshot", "pass", id), "snapshot");
}

/* The last passes, from the newest back. */
static void add_passes(struct report *r)
{
    json_t *request = json_pack("{s:s, s:i}", "command", "passes", "limit", PASSES_LOOKED_AT);
    json_t *reply = NULL;
    const json_t *pass;
    size_t i;
    size_t n = 0;

    if (client_call(r->socket, request, &reply) != EXIT_DONE)
        return;
    json_array_foreach(json_object_get(reply, "passes"), i, pass)
    {
        if (n < PASSES && json_is_true(json_object_get(pass, "replayable"))) {
            add_pass(r, reply_int(pass, "id"));
            n++;
        }
    }
    json_decref(reply);
}

static void add_service(struct report *r)
{
    for (size_t i = 0; i < COUNT_OF(replies); i++) {
        const char *name = arena_printf(r->a, "replies/%s", replies[i].name);

        if (!add_reply(r, name, json_loads(replies[i].request, 0, NULL), replies[i].member) && i == 0)
            return; /* there is no service */
    }
    add_passes(r);
}

/* ---- the verb -------------------------------------------------------------------------------- */

static const char *default_name(struct arena *a)
{
    const time_t now = time(NULL);
    struct tm tm;
    char stamp[32] = "";

    if (gmtime_r(&now, &tm))
        (void)strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
    return arena_printf(a, "ballast-bugreport-%s", stamp);
}

static enum exit_code verb_bugreport_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *name = default_name(a);
    const char *file = args->n_operands > 0 ? args->operands[0] : arena_printf(a, "%s.tar.gz", name);
    const char *log = args_value(args, OPT_LOG, NULL);
    struct report r = {.a = a, .socket = args->socket, .missing = STRBUF_EMPTY};
    struct err err = {0};

    if (bundle_begin(file, name, a, &r.bundle, &err) < 0)
        return cli_fail(err.code == -EEXIST ? EXIT_WRONG : EXIT_FAILED, "ballast bugreport: %s", err.text);
    add(&r, "README", read_me, sizeof read_me - 1);
    add_versions(&r);
    add_configuration(&r, args_value(args, OPT_CONFIG, CONFIG_DEFAULT));
    if (log)
        add_log_file(&r, log);
    else
        add_journal(&r);
    add_service(&r);
    if (r.missing.len > 0)
        add(&r, "missing", r.missing.text, r.missing.len);
    if (bundle_end(r.bundle, r.code == EXIT_DONE, &err) < 0 && r.code == EXIT_DONE) {
        cli_error("ballast bugreport: %s", err.text);
        r.code = EXIT_FAILED;
    }
    if (r.code == EXIT_DONE) {
        strbuf_printf(out, "%s\n", file);
        table_put_wrapped(
            out,
            "It has names of hosts and VMs, addresses and users, and no passwords. Read it before "
            "you give it away.",
            0);
        if (r.missing.len > 0)
            strbuf_printf(out, "\nMissing:\n%s", r.missing.text);
    }
    strbuf_release(&r.missing);
    return r.code;
}

const struct verb verb_bugreport = {
    .name = "bugreport",
    .summary = "Collect what a developer needs to know of the service in one archive, without secrets.",
    .more =
        "Writes versions, configuration, log, the replies of the service, its last plans and their snapshots "
        "as a compressed tar archive of mode 0600. Without a running service the archive lacks the replies, "
        "plans and snapshots. Files with passwords are left out; *** replaces possible secrets in texts.",
    .operands = "[FILE.tar.gz]",
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_bugreport_run,
};
