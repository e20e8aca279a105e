/* ballast check-config: checks a configuration file as the service does when it starts, and with --connect
 * everything that it names. */
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/service_user.h"
#include "cli/client.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/config.h"
#include "preflight/preflight.h"
#include "render/table.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SERVICE_S 5
#define VERDICT_WIDTH 7
#define TEXT_AT (2 + VERDICT_WIDTH + 2) /* column of an item's sentence */

enum { OPT_CONNECT, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_CONNECT] = {"connect", NULL, 0,
                     "log in to the source, the controllers and the broker, too, and list what is wrong; "
                     "changes nothing"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static bool as_service; /* root became the user of the service */

static const char *const verdict_texts[] = {[PREFLIGHT_OK] = "OK",
                                            [PREFLIGHT_NOTE] = "note",
                                            [PREFLIGHT_PROBLEM] = "PROBLEM",
                                            [PREFLIGHT_SKIPPED] = "skipped"};

static const char *const verdict_words[] = {[PREFLIGHT_OK] = "ok",
                                            [PREFLIGHT_NOTE] = "note",
                                            [PREFLIGHT_PROBLEM] = "problem",
                                            [PREFLIGHT_SKIPPED] = "skipped"};

static const struct {
    const char *title, *word;
} areas[PREFLIGHT_AREA_COUNT] = {
    [PREFLIGHT_SOURCE] = {"Source", "source"},
    [PREFLIGHT_CLUSTER] = {"Cluster", "cluster"},
    [PREFLIGHT_PRIVILEGES] = {"Privileges", "privileges"},
    [PREFLIGHT_CONFIGURATION] = {"Entries of the configuration", "configuration"},
    [PREFLIGHT_CONTROLLERS] = {"Controllers of hosts", "controllers"},
    [PREFLIGHT_BROKER] = {"MQTT broker", "broker"},
    [PREFLIGHT_ALARMS] = {"Targets of alarms", "alarms"},
    [PREFLIGHT_MACHINE] = {"This machine", "machine"},
};

static size_t count_problems(const struct preflight *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += p->items[i].verdict == PREFLIGHT_PROBLEM;
    return n;
}

/* ---- JSON ---- */

static void put_items_json(const struct preflight *p, struct json_writer *w)
{
    jw_begin(w, "checks", JW_ARRAY, JW_LINES);
    for (int area = 0; area < PREFLIGHT_AREA_COUNT; area++) {
        for (size_t i = 0; i < p->n; i++) {
            const struct preflight_item *item = &p->items[i];

            if ((int)item->area != area)
                continue;
            jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
            jw_text(w, "area", areas[area].word);
            jw_text(w, "verdict", verdict_words[item->verdict]);
            jw_text(w, "text", item->text);
            jw_text(w, "advice", item->advice);
            jw_text(w, "key", item->key);
            jw_text(w, "choice", item->choice);
            jw_end(w);
        }
    }
    jw_end(w);
}

/* p NULL: without --connect */
static void put_json(const char *path, const struct config *c, const struct preflight *p, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "file", path);
    jw_bool(&w, "ok", !p || count_problems(p) == 0);
    jw_text(&w, "cluster", c->cluster);
    jw_texts(&w, "warnings", c->warnings, c->n_warnings, JW_LINES);
    if (p)
        put_items_json(p, &w);
    jw_end(&w);
}

/* ---- text ---- */

static void put_item(const struct preflight_item *item, struct strbuf *out)
{
    strbuf_printf(out, "  %-*s ", VERDICT_WIDTH, verdict_texts[item->verdict]);
    table_put_hanging(out, item->text, TEXT_AT - 1, TEXT_AT);
    if (!item->advice)
        return;
    strbuf_printf(out, "%*s", TEXT_AT - 1, "");
    strbuf_puts(out, " To do:");
    table_put_hanging(out, item->advice, TEXT_AT + sizeof "To do:" - 1, TEXT_AT);
}

static void put_text(const char *path, const struct preflight *p, struct strbuf *out)
{
    const size_t problems = p ? count_problems(p) : 0;

    strbuf_printf(out, p ? "%s: the file has no mistakes%s\n" : "%s: good%s\n", path,
                  as_service ? ", as the service's user, " SERVICE_USER ", sees it" : "");
    for (int area = 0; p && area < PREFLIGHT_AREA_COUNT; area++) {
        bool any = false;

        for (size_t i = 0; i < p->n; i++) {
            if ((int)p->items[i].area != area)
                continue;
            if (!any)
                strbuf_printf(out, "\n%s\n", areas[area].title);
            any = true;
            put_item(&p->items[i], out);
        }
    }
    if (p && problems == 0)
        strbuf_puts(out, "\nNo problem was found.\n");
    else if (p)
        strbuf_printf(out, "\n%zu problem%s.\n", problems, problems == 1 ? "" : "s");
}

/* ---- the verb ---- */

/* A thread that still waits for a peer must not see memory go: the process ends here. */
static void end_at_once(enum exit_code code, const struct strbuf *out)
{
    enum exit_code written = cli_write(out);

    (void)fflush(NULL);
    _exit(written == EXIT_DONE ? (int)code : (int)written);
}

/* The accounts that the service of this configuration, where it runs, was refused. */
static size_t ask_service(const struct config *c, struct arena *a, struct preflight_pause **ret)
{
    json_t *reply = NULL;
    const json_t *one;
    size_t i, n = 0;

    *ret = NULL;
    client_limit(SERVICE_S); /* it may hang */
    if (!client_reaches(c->socket) ||
        client_call(c->socket, json_pack("{s:s}", "command", "status"), &reply) != EXIT_DONE)
        return 0;
    const json_t *list = json_object_get(json_object_get(reply, "status"), "logins_paused");

    *ret = arena_array(a, struct preflight_pause, json_array_size(list));
    json_array_foreach(list, i, one)
    {
        const char *account = reply_text(one, "account"), *next = reply_text(one, "next_try");

        if (account && next)
            (*ret)[n++] = (struct preflight_pause){arena_strdup(a, account), arena_strdup(a, next)};
    }
    json_decref(reply);
    return n;
}

static enum exit_code connect_and_print(const char *path, const struct config *c, bool json, struct arena *a,
                                        struct strbuf *out)
{
    struct preflight found = {.a = a};
    struct err err = {0};
    struct preflight_pause *pauses;
    bool abandoned;

    log_set_level(LOG_LEVEL_ERROR); /* the list says it all */
    (void)signal(SIGPIPE, SIG_IGN);
    if (isatty(STDERR_FILENO))
        cli_error("asking the source, %zu host%s and the broker; this may take a minute", c->n_power_hosts,
                  c->n_power_hosts == 1 ? "" : "s");
    size_t n_pauses = ask_service(c, a, &pauses);

    if (preflight_run(c, pauses, n_pauses, &found, &abandoned, &err) < 0)
        return cli_fail(EXIT_FAILED, "%s", err.text);
    enum exit_code code = count_problems(&found) == 0 ? EXIT_DONE : EXIT_FAILED;

    if (json)
        put_json(path, c, &found, out);
    else
        put_text(path, &found, out);
    if (abandoned)
        end_at_once(code, out);
    return code;
}

static enum exit_code verb_check_config_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *path = args->operands[0];
    struct mistakes mistakes = {0};
    struct config config;
    struct err err = {0};
    size_t len;
    char *text;

    as_service = geteuid() == 0 && service_user_of(path) == SERVICE_USER_OTHER;
    if (as_service) {
        char *full = arena_array(a, char, PATH_MAX);

        if (service_user_become(path, full, &err) < 0)
            return cli_fail(EXIT_FAILED, "%s", err.text);
        path = full;
    }
    if (config_read_text(path, a, &text, &len, &err) < 0 ||
        config_parse_all(path, text, len, CONFIG_FOR_CHECK, a, &config, &mistakes, &err) < 0) {
        for (size_t i = 0; i < mistakes.n; i++)
            cli_error("%s", mistakes.items[i]);
        if (mistakes.n == 0 || strcmp(mistakes.items[mistakes.n - 1], err.text) != 0)
            cli_error("%s", err.text);
        return EXIT_WRONG;
    }
    for (size_t i = 0; i < config.n_warnings; i++)
        cli_error("warning: %s", config.warnings[i]);
    if (args->options[OPT_CONNECT].n > 0)
        return connect_and_print(path, &config, args->json, a, out);
    struct err *packets;
    size_t n_packets = preflight_packets(&config, a, &packets);

    for (size_t i = 0; i < n_packets; i++)
        cli_error("warning: %s", packets[i].text);
    if (args->json)
        put_json(path, &config, NULL, out);
    else
        put_text(path, NULL, out);
    return EXIT_DONE;
}

const struct verb verb_check_config = {
    .name = "check-config",
    .summary = "Check a configuration file as the service does when it starts.",
    .more = "Each mistake is a line. Mistakes of single keys are listed first; when there are none, those of "
            "sections and of keys that depend on each other.\n"
            "With --connect, one line for each thing looked at: OK; note (good to know, the service works); "
            "PROBLEM, with what to do; skipped. Run it as root, who looks at a file in /etc/ballast as the "
            "user of "
            "the packaged service, or as the user of the service. It changes nothing and "
            "may run beside the service. A refused password is not tried again, nor one that the running "
            "service was refused. Exit code 1: there are "
            "problems.",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .answers_no = true,
    .run = verb_check_config_run,
};
