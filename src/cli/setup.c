/* setup.c: ballast setup: asks, has `check-config --connect` judge the answers, writes them, starts the
 * service. What is asked of each kind of source stands in setup_kinds.c. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/program.h"
#include "base/service_user.h"
#include "cli/client.h"
#include "cli/setup_files.h"
#include "cli/verbs.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define WAIT_S 240 /* for a check, and for the start of the service */
#define OUTPUT_MAX ((size_t)16 * 1024 * 1024)

/* ---- the questions --------------------------------------------------------------------------- */

static void add_question(struct setup *s, const struct setup_question *q)
{
    s->answers[s->n++] = (struct answer){
        .question = q, .field = setup_file_key(s, q->key), .done = (q->flags & SETUP_LATER) != 0};
}

/* The others follow from the kind. */
static bool add_questions(struct setup *s)
{
    const struct setup_kind *k = setup_kinds;

    while (k->kind && strcmp(k->kind, s->answers[KIND].typed) != 0)
        k++;
    for (const struct setup_question *q = k->questions; k->kind && q->key; q++)
        add_question(s, q);
    if (!k->kind)
        cli_error("source.kind is \"%s\"; `ballast setup` asks for vsphere, libvirt or proxmox",
                  s->answers[KIND].typed);
    return k->kind != NULL;
}

/* The item that offers the value of this number for a key; NULL: there are fewer. */
static const json_t *offer(const struct setup *s, const char *key, unsigned long number)
{
    const json_t *item;
    size_t i;

    json_array_foreach(s->checks, i, item)
    {
        if (reply_text(item, "choice") && strcmp(reply_or_dash(item, "key"), key) == 0 && --number == 0)
            return item;
    }
    return NULL;
}

static const char *prompt_of(const struct setup *s, const struct answer *x)
{
    const struct setup_question *q = x->question;
    const bool listed = x != &s->answers[NAME] && offer(s, q->key, 1);
    const char *what = x->field->inner ? x->field->inner->fields[0].meaning : x->field->meaning;

    what = x->field->type == FIELD_SECRET ? "the password, or the secret of the token (it is not shown)"
                                          : arena_strndup(s->a, what, strcspn(what, ";"));
    if (listed)
        what = arena_printf(s->a, "%s; the number of a line above, or another", what);
    if (x->typed)
        return arena_printf(s->a, "%s [Enter: %s]", what, setup_file_of(s, x) ? "as before" : x->typed);
    if (listed)
        return what;
    return arena_printf(s->a, "%s%s%s%s", what, q->example ? ", such as " : "", q->example ? q->example : "",
                        q->flags & SETUP_OPTIONAL ? " [Enter: none]" : "");
}

/* Whether the service would take the answers so far. */
static bool is_accepted(const struct setup *s)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct config unused;
    struct err err = {0};

    setup_file_put_config(s, &text);
    if (config_parse(s->name, text.text, text.len, CONFIG_FOR_POLICY, s->a, &unused, &err) == 0)
        return true;
    cli_error("%s", err.text);
    return false;
}

/* A certificate that is pasted goes on to an empty line. */
static const char *read_pem(const struct setup *s, const char *text)
{
    const char *prompt = "the rest of it, then an empty line";
    char line[CLI_ANSWER_MAX];

    for (; cli_answer(prompt, false, line) && line[0]; prompt = "")
        text = arena_printf(s->a, "%s\n%s", text, line);
    return text;
}

/* The answer in the line, as it is kept; NULL: none. */
static const char *take(const struct setup *s, const struct answer *x, const char *line)
{
    char *end;
    const json_t *item = offer(s, x->question->key, strtoul(line, &end, 10));

    if (item && *end == '\0')
        return arena_strdup(s->a, reply_text(item, "choice"));
    if (!line[0])
        return x->typed ? x->typed : x->question->flags & SETUP_OPTIONAL ? "" : NULL;
    if (strncmp(line, PEM_BEGIN, strlen(PEM_BEGIN)) == 0)
        return read_pem(s, line);
    return x->field->type == FIELD_PATH && line[0] != '/' ? arena_printf(s->a, "%s/%s", s->folder, line)
                                                          : arena_strdup(s->a, line);
}

static bool ask(struct setup *s, struct answer *x)
{
    const char *former = x->typed;
    const json_t *item;
    char line[CLI_ANSWER_MAX];

    for (size_t i = 1; !x->done && x != &s->answers[NAME] && (item = offer(s, x->question->key, i)) != NULL;
         i++)
        cli_error("%3zu  %s", i, reply_or_dash(item, "text"));
    while (!x->done) {
        if (!cli_answer(prompt_of(s, x), x->field->type == FIELD_SECRET, line))
            return false;
        x->typed = take(s, x, line);
        x->done = x->typed && is_accepted(s) && (x != &s->answers[KIND] || add_questions(s));
        if (!x->done)
            x->typed = former;
    }
    return true;
}

static bool ask_all(struct setup *s)
{
    bool all = true;

    for (size_t i = 0; i < s->n && all; i++)
        all = ask(s, &s->answers[i]);
    return all;
}

/* ---- the check ------------------------------------------------------------------------------- */

static int run(const struct setup *s, const char *const *argv, struct program_result *ret)
{
    const struct program p = {.argv = argv,
                              .output_max = OUTPUT_MAX,
                              .deadline_us = clock_us(CLOCK_MONOTONIC) + WAIT_S * INT64_C(1000000),
                              .stop = s->stop};

    return program_run(&p, ret);
}

/* A finding that is no item of a list of checks: a line that begins with the file's name, or a text. The key
 * is one that it names. */
static void add_check(struct setup *s, const char *verdict, const char *text)
{
    const char *file = arena_printf(s->a, "%s/", s->stage), *key = NULL;
    json_t *item = json_object();

    text = text && *text ? text : "it ended without a word";
    for (size_t i = KIND; i < s->n; i++)
        key = strstr(text, s->answers[i].question->key) ? s->answers[i].question->key : key;
    text += strncmp(text, file, strlen(file)) == 0 ? strlen(file) : 0;
    (void)json_object_set_new(item, "verdict", json_string(verdict));
    (void)json_object_set_new(item, "text", json_string_nocheck(text));
    (void)json_object_set_new(item, "key", key ? json_string(key) : NULL);
    (void)json_array_append_new(s->checks, item);
}

/* `ballast check-config --connect`, a process of its own, which becomes the service's user. */
static void check(struct setup *s)
{
    const char *const argv[] = {"/proc/self/exe",
                                "check-config",
                                "--connect",
                                "--format",
                                "json",
                                arena_printf(s->a, "%s/%s", s->stage, s->name),
                                NULL};
    struct program_result result = {0};
    char last[PROGRAM_ERRORS_MAX];
    const json_t *warning;
    size_t i;

    cli_error("checking; this may take a minute");
    int r = run(s, argv, &result);
    json_t *reply = r == 0 ? json_loadb(result.output.text, result.output.len, 0, NULL) : NULL;
    json_t *checks = json_object_get(reply, "checks");

    json_decref(s->checks);
    s->checks = checks ? json_incref(checks) : json_array();
    json_array_foreach(json_object_get(reply, "warnings"), i, warning)
        add_check(s, "warning", json_string_value(warning));
    program_last_line(&result.errors, last, sizeof last);
    if (!checks) /* a mistake of the file */
        add_check(s, "problem", r < 0 ? strerror(-r) : last);
    json_decref(reply);
    program_result_release(&result);
}

/* The answers that the item is about are to be given again; false: there are none. */
static bool blame(struct setup *s, const json_t *item)
{
    for (size_t i = KIND; i < s->n; i++) {
        struct answer *x = &s->answers[i];

        if (strcmp(reply_or_dash(item, "key"), x->question->key) != 0)
            continue;
        bool former = x->typed || x[-1].question->flags & SETUP_LATER; /* it was given, or none was */

        x[-1].done = x[-1].done && !(former && x->question->flags & SETUP_WITH_FORMER);
        x->done = false;
        return true;
    }
    return false;
}

/* Says the problems. -EAGAIN: ask what is to be asked again, and check again; -ENODATA: no answer. */
static int judge(struct setup *s)
{
    bool again = false, elsewhere = false;
    const json_t *item;
    char line[CLI_ANSWER_MAX];
    size_t i;

    json_array_foreach(s->checks, i, item)
    {
        const char *advice = reply_text(item, "advice");
        const bool problem = strcmp(reply_or_dash(item, "verdict"), "problem") == 0;

        if (!problem && strcmp(reply_or_dash(item, "verdict"), "warning") != 0)
            continue;
        cli_error("%s: %s%s%s", problem ? "PROBLEM" : "WARNING", reply_or_dash(item, "text"),
                  advice ? "; to do: " : "", advice ? advice : "");
        if (problem && blame(s, item))
            again = true;
        else
            elsewhere = true;
    }
    if (again || !elsewhere)
        return again ? -EAGAIN : 0;
    if (!cli_answer("mend this, then press Enter to check again; or type: go on", false, line))
        return -ENODATA;
    return strcmp(line, "go on") == 0 ? 0 : -EAGAIN;
}

static bool ask_and_check(struct setup *s)
{
    int r;

    add_question(s, &setup_name);
    add_question(s, &setup_source_kind);
    do {
        if (!ask_all(s) || setup_file_write_stage(s) < 0)
            return false;
        check(s);
    } while ((r = judge(s)) == -EAGAIN);
    s->answers[NAME].typed = arena_strdup(s->a, reply_text(offer(s, "cluster", 1), "choice"));
    s->answers[NAME].done = false;
    return r == 0 && ask_all(s) && !atomic_load(s->stop);
}

/* ---- the service ----------------------------------------------------------------------------- */

/* Returns whether it starts, or a person is to start it. */
static bool start(const struct setup *s, const char *path, const char *socket)
{
    static const char *const steps[] = {"enable", "restart"}; /* the package enables its own unit only */
    const char *unit =
        strcmp(s->stem, "ballast") == 0 ? "ballastd" : arena_printf(s->a, "ballastd@%s", s->stem);
    bool done = true;

    if (!s->packaged || access("/run/systemd/system", F_OK) < 0) {
        const bool runs = client_reaches(socket);

        cli_error(runs ? "restart the service, which still has its former configuration: ballastd --config %s"
                       : "start the service, in another terminal: ballastd --config %s",
                  path);
        return !runs;
    }
    for (size_t i = 0; done && i < COUNT_OF(steps); i++) {
        const char *const argv[] = {"/usr/bin/env", "systemctl", steps[i], unit, NULL};
        struct program_result result = {0};

        done = run(s, argv, &result) == 0 && result.status == 0;
        if (!done)
            cli_error("`systemctl %s %s` has failed; `journalctl -u %s` says why", steps[i], unit, unit);
        program_result_release(&result);
    }
    return done;
}

/* A pass, as soon as the service answers. */
static enum exit_code show_pass(const struct setup *s, const char *socket, struct strbuf *out)
{
    const struct args args = {.socket = socket,
                              .options = arena_array(s->a, struct option_values, verb_run.n_options)};

    cli_release_signals(); /* nothing is left to be cleaned up */
    cli_error("waiting for the service and its first pass; Ctrl-C only ends the waiting");
    for (int i = 0; !client_reaches(socket) && i < WAIT_S; i++)
        (void)sleep(1);
    if (strcmp(socket, SOCKET_DEFAULT) != 0)
        cli_error("for the command: export BALLAST_SOCKET=%s", socket);
    cli_error("nothing moves before `ballast apply`");
    return verb_run.run(&args, s->a, out);
}

/* ---- the verb -------------------------------------------------------------------------------- */

enum { OPT_CONFIG };

static const struct option_spec options[] = {
    [OPT_CONFIG] = {"config", "FILE", 0, "the file to write; default: " CONFIG_DEFAULT},
};

static enum exit_code verb_setup_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *path = args_value(args, OPT_CONFIG, CONFIG_DEFAULT);
    struct setup s = {.a = a, .stop = cli_hold_signals(), .name = basename(arena_strdup(a, path))};
    char folder[PATH_MAX];
    struct config c;

    if (!realpath(dirname(arena_strdup(a, path)), folder))
        return cli_fail(EXIT_WRONG,
                        "--config: %s: %s; install the package ballastd, which makes /etc/ballast, "
                        "or name a FILE in a folder of your own",
                        path, strerror(errno));
    s.folder = folder;
    s.stem = arena_strndup(a, s.name, strcspn(s.name, "."));
    s.packaged = service_user_of(arena_printf(a, "%s/%s", folder, s.name)) != SERVICE_USER_NONE;
    path = arena_printf(a, "%s/%s", folder, s.name);
    if (!setup_file_check_place(&s))
        return EXIT_WRONG;
    if (!setup_file_may_replace(&s, path))
        return cli_fail(EXIT_FAILED, "ballast setup: nothing was written");
    if (!setup_file_make_stage(&s))
        return EXIT_FAILED;
    const bool good = ask_and_check(&s);

    setup_file_remove_stage(&s);
    json_decref(s.checks);
    if (!good)
        return cli_fail(EXIT_FAILED, "ballast setup: an answer is missing, and nothing was written");
    if (setup_file_replace(&s) < 0 || config_load_for(path, CONFIG_FOR_POLICY, a, &c, NULL) < 0)
        return EXIT_FAILED;
    return start(&s, path, c.socket) ? show_pass(&s, c.socket, out) : EXIT_FAILED;
}

const struct verb verb_setup = {
    .name = "setup",
    .summary = "Write the first configuration: questions, a check, the start of the service.",
    .more =
        "Asks for the kind of the source, its address, user and password, and checks as `check-config "
        "--connect` does. What is wrong is said, and asked again; an unknown certificate is shown with its "
        "fingerprint, and clusters are listed. Then it writes FILE, and beside it files with the password "
        "and "
        "the certificate, for the service's group to read, and starts the service. Nothing else is "
        "written before. "
        "`automation` is `manual`: nothing moves before you approve it.\n"
        "\n"
        "Without a terminal each line of standard input is an answer. Without root: name a FILE in a folder "
        "of "
        "your own, in which the service then keeps its store and its socket.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_setup_run,
};
