/* ballast setup: asks, has `check-config --connect` judge the answers, writes them, starts the service. What
 * is asked of each kind of source stands in setup_kinds.c. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/program.h"
#include "base/service_user.h"
#include "cli/client.h"
#include "cli/setup_kinds.h"
#include "cli/verbs.h"
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define CONFIG_DEFAULT "/etc/ballast/ballast.yaml"
#define PACKAGED                                                                                             \
    "cluster: simulated\nautomation: manual\nsource: {kind: sim}\n" /* what the package installs */
#define PEM_BEGIN "-----BEGIN "
#define WAIT_S 240 /* for a check, and for the start of the service */
#define OUTPUT_MAX ((size_t)16 * 1024 * 1024)

struct answer {
    const struct setup_question *question;
    const struct field *field;
    const char *typed; /* the last answer; NULL: none */
    bool done;         /* not to be asked (again) */
};

enum { NAME, KIND }; /* of the cluster, of the source: the first answers */

struct setup {
    struct arena *a;
    const atomic_bool *stop;
    const char *folder, *name, *stem; /* of the file; stem: the name without its ending */
    const char *stage;                /* a folder in it, for files that are not finished */
    bool packaged;                    /* the packaged service reads the file */
    struct answer answers[KIND + 1 + SETUP_QUESTIONS_MAX];
    size_t n;
    json_t *checks; /* the items of the last check; NULL: none */
};

/* ---- the files ------------------------------------------------------------------------------- */

static const struct field *field_of(const struct setup *s, const char *key)
{
    size_t n;
    const struct field *keys = config_keys(s->answers[KIND].typed, s->a, &n);

    while (n > 1 && strcmp(keys[n - 1].name, key) != 0)
        n--;
    return &keys[n - 1];
}

/* The name of the file that the answer is kept in; NULL: it stands in the configuration. */
static const char *file_of(const struct setup *s, const struct answer *x)
{
    if (x->field->type == FIELD_SECRET)
        return arena_printf(s->a, "%s.password", s->stem);
    return strncmp(x->typed, PEM_BEGIN, strlen(PEM_BEGIN)) == 0 ? arena_printf(s->a, "%s-ca.pem", s->stem)
                                                                : NULL;
}

static void put_key(const struct setup *s, const char *key, const char *value, struct strbuf *out)
{
    const char *below = strchr(key, '.');

    strbuf_printf(out, "\n%s# %s\n", below ? "  " : "", field_of(s, key)->meaning);
    strbuf_printf(out, "%s%s: %s\n", below ? "  " : "", below ? below + 1 : key, value);
}

static void put_config(const struct setup *s, struct strbuf *out)
{
    const char *state = s->packaged ? "/var/lib/ballast" : s->folder;
    const char *run = s->packaged ? "/run/ballast" : s->folder;

    strbuf_puts(out,
                "# The configuration of ballastd, by `ballast setup`. ballast.yaml(5) lists every setting;\n"
                "# `ballast check-config --connect FILE` checks this file and what it names.\n");
    put_key(s, "cluster",
            setup_kinds_quote(s->answers[NAME].typed ? s->answers[NAME].typed : "unnamed", s->a), out);
    put_key(s, "automation", "manual", out);
    if (!s->packaged || strcmp(s->stem, "ballast") != 0) {
        put_key(s, "state_dir", setup_kinds_quote(arena_printf(s->a, "%s/%s", state, s->stem), s->a), out);
        put_key(s, "socket", setup_kinds_quote(arena_printf(s->a, "%s/%s/ballastd.sock", run, s->stem), s->a),
                out);
    }
    strbuf_puts(out, "\nsource:");
    for (size_t i = KIND; i < s->n; i++) {
        const struct answer *x = &s->answers[i];

        if (!x->typed || !x->typed[0])
            continue;
        const char *file = file_of(s, x);

        put_key(s, x->question->key,
                (x->question->value ? x->question->value : setup_kinds_quote)(file ? file : x->typed, s->a),
                out);
    }
}

static int write_file(const struct setup *s, const char *folder, const char *name, const struct strbuf *text)
{
    const char *path = arena_printf(s->a, "%s/%s", folder, name);
    const char *copy = arena_printf(s->a, "%s.before-%lld", path, (long long)time(NULL));

    if (folder != s->stage && access(path, F_OK) == 0) {
        if (linkat(AT_FDCWD, path, AT_FDCWD, copy, AT_SYMLINK_FOLLOW) < 0) {
            cli_error("%s: no copy can be kept as %s: %s; nothing of it was changed", path, copy,
                      strerror(errno));
            return -errno;
        }
        cli_error("kept as %s: what %s was", copy, name);
    }
    if (cli_write_file(path, text) != EXIT_DONE)
        return -EIO;
    (void)service_user_give(path);
    if (folder != s->stage)
        cli_error("written: %s", path);
    return 0;
}

/* The configuration last: what it names is there by then. */
static int write_files(const struct setup *s, const char *folder)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    int r = 0;

    for (size_t i = KIND; i < s->n && r == 0; i++) {
        const struct answer *x = &s->answers[i];

        if (!x->typed || !file_of(s, x))
            continue;
        strbuf_printf(&text, "%s\n", x->typed);
        r = write_file(s, folder, file_of(s, x), &text);
        strbuf_clear(&text);
    }
    put_config(s, &text);
    return r < 0 ? r : write_file(s, folder, s->name, &text);
}

/* Without a question where there is none, or that of the package, whatever its comments. */
static bool may_replace(const struct setup *s, const char *path)
{
    struct config now, packaged;
    struct config_change *changes;
    char line[CLI_ANSWER_MAX];

    if (access(path, F_OK) < 0 ||
        (config_load_for(path, CONFIG_FOR_POLICY, s->a, &now, NULL) == 0 &&
         config_parse("", PACKAGED, strlen(PACKAGED), CONFIG_FOR_POLICY, s->a, &packaged, NULL) == 0 &&
         config_changes(&packaged, &now, s->a, &changes) == 0))
        return true;
    return cli_answer(arena_printf(s->a, "%s is there; replace it, and keep a copy? yes or no", path), false,
                      line) &&
           strcmp(line, "yes") == 0;
}

static bool make_stage(struct setup *s)
{
    char *stage = arena_printf(s->a, "%s/.setup-XXXXXX", s->folder);

    if (!mkdtemp(stage)) {
        cli_error(
            "%s: no file can be made there: %s; use sudo, or name a file in another folder with --config",
            s->folder, strerror(errno));
        return false;
    }
    s->stage = stage;
    s->packaged = service_user_of(stage) != SERVICE_USER_NONE;
    (void)umask(077);
    (void)service_user_give(stage);
    return true;
}

static void remove_stage(const struct setup *s)
{
    (void)unlink(arena_printf(s->a, "%s/%s.password", s->stage, s->stem));
    (void)unlink(arena_printf(s->a, "%s/%s-ca.pem", s->stage, s->stem));
    (void)unlink(arena_printf(s->a, "%s/%s", s->stage, s->name));
    (void)rmdir(s->stage);
}

/* ---- the questions --------------------------------------------------------------------------- */

static void add_question(struct setup *s, const struct setup_question *q)
{
    s->answers[s->n++] =
        (struct answer){.question = q, .field = field_of(s, q->key), .done = (q->flags & SETUP_LATER) != 0};
}

/* The others follow from the kind. */
static bool add_questions(struct setup *s)
{
    const struct setup_kind *k = setup_kinds;

    while (k->kind && strcmp(k->kind, s->answers[KIND].typed) != 0)
        k++;
    for (const struct setup_question *q = k->questions; k->kind && q->key; q++)
        add_question(s, q);
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
    const char *what = x->field->inner ? x->field->inner->fields[0].meaning : x->field->meaning;

    what = x->field->type == FIELD_SECRET ? "the password, or the secret of the token (it is not shown)"
                                          : arena_strndup(s->a, what, strcspn(what, ";"));
    if (x->typed)
        return arena_printf(s->a, "%s [Enter: %s]", what, file_of(s, x) ? "as before" : x->typed);
    if (offer(s, q->key, 1))
        return arena_printf(s->a, "%s; the number of a line above, or another", what);
    return arena_printf(s->a, "%s%s%s%s", what, q->example ? ", such as " : "", q->example ? q->example : "",
                        q->flags & SETUP_OPTIONAL ? " [Enter: none]" : "");
}

/* Whether the service would take the answers so far. */
static bool is_accepted(const struct setup *s)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct config unused;
    struct err err = {0};

    put_config(s, &text);
    if (config_parse(s->name, text.text, text.len, CONFIG_FOR_POLICY, s->a, &unused, &err) == 0)
        return true;
    cli_error("%s", err.text);
    return false;
}

static bool ask(struct setup *s, struct answer *x)
{
    const json_t *item;
    char line[CLI_ANSWER_MAX], *end;

    for (size_t i = 1; !x->done && x != &s->answers[NAME] && (item = offer(s, x->question->key, i)) != NULL;
         i++)
        cli_error("%3zu  %s", i, reply_or_dash(item, "text"));
    while (!x->done) {
        if (!cli_answer(prompt_of(s, x), x->field->type == FIELD_SECRET, line))
            return false;
        item = offer(s, x->question->key, strtoul(line, &end, 10));
        if (item && *end == '\0')
            x->typed = arena_strdup(s->a, reply_text(item, "choice"));
        else if (line[0] || !x->typed)
            x->typed = arena_strdup(s->a, line);
        x->done = (x->typed[0] || x->question->flags & SETUP_OPTIONAL) && is_accepted(s) &&
                  (x != &s->answers[KIND] || add_questions(s));
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
    char last[PROGRAM_LINE_MAX];
    const char *key = NULL;

    cli_error("checking; this may take a minute");
    int r = run(s, argv, &result);
    json_t *reply = r == 0 ? json_loadb(result.output.text, result.output.len, 0, NULL) : NULL;

    json_decref(s->checks);
    s->checks = json_incref(json_object_get(reply, "checks"));
    json_decref(reply);
    program_last_line(&result.errors, last);
    program_result_release(&result);
    for (size_t i = KIND; i < s->n && !s->checks; i++)
        key = strstr(last, s->answers[i].question->key) ? s->answers[i].question->key : key;
    if (!s->checks) /* a mistake of the file */
        s->checks = json_pack("[{s:s, s:s, s:s*}]", "verdict", "problem", "text", r < 0 ? strerror(-r) : last,
                              "key", key);
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

        if (strcmp(reply_or_dash(item, "verdict"), "problem") != 0)
            continue;
        cli_error("PROBLEM: %s%s%s", reply_or_dash(item, "text"), advice ? "; to do: " : "",
                  advice ? advice : "");
        if (blame(s, item))
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
        if (!ask_all(s) || write_files(s, s->stage) < 0)
            return false;
        check(s);
    } while ((r = judge(s)) == -EAGAIN);
    s->answers[NAME].typed = arena_strdup(s->a, reply_text(offer(s, "cluster", 1), "choice"));
    s->answers[NAME].done = false;
    return r == 0 && ask_all(s) && !atomic_load(s->stop);
}

/* ---- the service ----------------------------------------------------------------------------- */

static void start(const struct setup *s, const char *path)
{
    const char *unit =
        strcmp(s->stem, "ballast") == 0 ? "ballastd" : arena_printf(s->a, "ballastd@%s", s->stem);
    static const char *const steps[] = {"enable", "restart"}; /* the package enables its own unit only */
    bool done = s->packaged && access("/run/systemd/system", F_OK) == 0;

    if (!done)
        cli_error("start the service: ballastd --config %s", path);
    for (size_t i = 0; done && i < COUNT_OF(steps); i++) {
        const char *const argv[] = {"/usr/bin/env", "systemctl", steps[i], unit, NULL};
        struct program_result result = {0};

        done = run(s, argv, &result) == 0 && result.status == 0;
        if (!done)
            cli_error("`systemctl %s %s` has failed; `journalctl -u %s` says why", steps[i], unit, unit);
        program_result_release(&result);
    }
}

/* A pass, as soon as the service answers. */
static enum exit_code show_pass(const struct setup *s, const char *socket, struct strbuf *out)
{
    const struct args args = {.socket = socket,
                              .options = arena_array(s->a, struct option_values, verb_run.n_options)};

    for (int i = 0; !client_reaches(socket) && !atomic_load(s->stop) && i < WAIT_S; i++)
        (void)sleep(1);
    strbuf_printf(out, "For the command: BALLAST_SOCKET=%s\nNothing moves before `ballast apply`.\n\n",
                  socket);
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
        return cli_fail(EXIT_WRONG, "--config: %s: %s", path, strerror(errno));
    s.folder = folder;
    s.stem = arena_strndup(a, s.name, strcspn(s.name, "."));
    if (!make_stage(&s))
        return EXIT_FAILED;
    path = arena_printf(a, "%s/%s", folder, s.name);
    const bool good = may_replace(&s, path) && ask_and_check(&s);

    remove_stage(&s);
    json_decref(s.checks);
    if (!good)
        return cli_fail(EXIT_FAILED, "ballast setup: an answer is missing, and nothing was written");
    if (write_files(&s, folder) < 0 || config_load_for(path, CONFIG_FOR_POLICY, a, &c, NULL) < 0)
        return EXIT_FAILED;
    start(&s, path);
    return show_pass(&s, c.socket, out);
}

const struct verb verb_setup = {
    .name = "setup",
    .summary = "Write the first configuration: questions, a check, the start of the service.",
    .more =
        "Asks for the kind of the source, its address, user and password, and checks as `check-config "
        "--connect` does. What is wrong is said, and asked again; an unknown certificate is shown with its "
        "fingerprint, and clusters are listed. Then it writes FILE, and beside it files with the password "
        "and "
        "the certificate, for the service's group to read, and starts the service. Nothing is written "
        "before. "
        "`automation` is `manual`: nothing moves before you approve it.\n"
        "\n"
        "Without a terminal each line of standard input is an answer. Without root: name a FILE in a folder "
        "of "
        "your own, in which the service then keeps its store and its socket.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_setup_run,
};
