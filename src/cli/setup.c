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

/* Where the file is there. What others could read they cannot read any more: the next may be a secret. */
static int keep_copy(const struct setup *s, const char *name)
{
    const char *path = arena_printf(s->a, "%s/%s", s->folder, name);
    const char *copy = arena_printf(s->a, "%s.before-%lld", path, (long long)time(NULL));
    struct stat st;

    if (stat(path, &st) < 0)
        return 0;
    if (linkat(AT_FDCWD, path, AT_FDCWD, copy, AT_SYMLINK_FOLLOW) < 0) {
        cli_error("%s: no copy can be kept as %s: %s; nothing was changed", path, copy, strerror(errno));
        return -errno;
    }
    if (strcmp(name, s->name) != 0)
        (void)chmod(path, st.st_mode & 0770);
    cli_error("kept as %s: what %s was", copy, name);
    return 0;
}

/* All copies before the first file is another. */
static int replace_files(const struct setup *s)
{
    int r = keep_copy(s, s->name);

    for (size_t i = KIND; i < s->n && r == 0; i++) {
        const struct answer *x = &s->answers[i];

        r = x->typed && file_of(s, x) ? keep_copy(s, file_of(s, x)) : 0;
    }
    return r < 0 ? r : write_files(s, s->folder);
}

/* Without a question where there is none, or that of the package, whatever its comments. */
static bool may_replace(const struct setup *s, const char *path)
{
    struct config now, packaged;
    struct config_change *changes;

    if (access(path, F_OK) < 0 ||
        (config_load_for(path, CONFIG_FOR_POLICY, s->a, &now, NULL) == 0 &&
         config_parse("", PACKAGED, strlen(PACKAGED), CONFIG_FOR_POLICY, s->a, &packaged, NULL) == 0 &&
         config_changes(&packaged, &now, s->a, &changes) == 0))
        return true;
    return cli_asked(arena_printf(s->a, "%s is there; replace it, and keep a copy", path));
}

/* The units read /etc/ballast/NAME.yaml, and NAME is that of an instance. */
static bool check_place(const struct setup *s)
{
    const size_t letters =
        strspn(s->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    if (letters == 0 || strcmp(s->name + letters, ".yaml") != 0)
        cli_error("--config: %s: expected NAME.yaml, NAME of letters, digits, - and _", s->name);
    else if (s->packaged && strcmp(s->folder, dirname(arena_strdup(s->a, CONFIG_DEFAULT))) != 0)
        cli_error("--config: %s: the service reads the files in /etc/ballast, and no folder below it",
                  s->folder);
    else
        return true;
    return false;
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

static const char *last_line(struct strbuf *text)
{
    while (text->len > 0 && text->text[text->len - 1] == '\n')
        text->text[--text->len] = '\0';
    const char *newline = text->len > 0 ? strrchr(text->text, '\n') : NULL;

    return newline ? newline + 1 : text->text;
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
    if (!checks) /* a mistake of the file */
        add_check(s, "problem", r < 0 ? strerror(-r) : last_line(&result.errors));
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
        if (!ask_all(s) || write_files(s, s->stage) < 0)
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
        return cli_fail(EXIT_WRONG, "--config: %s: %s", path, strerror(errno));
    s.folder = folder;
    s.stem = arena_strndup(a, s.name, strcspn(s.name, "."));
    s.packaged = service_user_of(arena_printf(a, "%s/%s", folder, s.name)) != SERVICE_USER_NONE;
    path = arena_printf(a, "%s/%s", folder, s.name);
    if (!check_place(&s))
        return EXIT_WRONG;
    if (!may_replace(&s, path))
        return cli_fail(EXIT_FAILED, "ballast setup: nothing was written");
    if (!make_stage(&s))
        return EXIT_FAILED;
    const bool good = ask_and_check(&s);

    remove_stage(&s);
    json_decref(s.checks);
    if (!good)
        return cli_fail(EXIT_FAILED, "ballast setup: an answer is missing, and nothing was written");
    if (replace_files(&s) < 0 || config_load_for(path, CONFIG_FOR_POLICY, a, &c, NULL) < 0)
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
