/* main.c: finds the verb, runs it, and writes its output. */
#include "base/cleanup.h"
#include "cli/client.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/watch.h"
#include "schema/suggest.h"

#include <string.h>
#include <unistd.h>

#define VERB_WIDTH 15 /* the longest verb */

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < n_verbs; i++) {
        const struct verb *v = verbs[i];

        if (strcmp(v->name, name) == 0)
            return v;
        if (v->former_name && strcmp(v->former_name, name) == 0) {
            cli_error("warning: `ballast %s` is called `ballast %s` now", name, v->name);
            return v;
        }
    }
    return NULL;
}

static void refuse_word(const char *word, struct arena *a)
{
    const char **names = arena_array(a, const char *, n_verbs);

    for (size_t i = 0; i < n_verbs; i++)
        names[i] = verbs[i]->name;
    const char *near = suggest(word, names, n_verbs);

    if (*word == '-')
        cli_error("ballast: unknown option \"%s\", see ballast --help", word);
    else if (near)
        cli_error("ballast: unknown command \"%s\", did you mean \"%s\"?", word, near);
    else
        cli_error("ballast: unknown command \"%s\", see ballast --help", word);
}

static void list_verbs(bool needs_service, const char *title, struct strbuf *out)
{
    bool any = false;

    for (size_t i = 0; i < n_verbs; i++) {
        if (verbs[i]->needs_service != needs_service)
            continue;
        if (!any)
            strbuf_printf(out, "\n%s\n", title);
        any = true;
        options_help_line(verbs[i]->name, VERB_WIDTH, verbs[i]->summary, out);
    }
}

static void put_help(struct strbuf *out)
{
    strbuf_puts(out, "Usage: ballast COMMAND [OPTIONS]\n"
                     "       ballast help COMMAND\n"
                     "       ballast --version\n\n"
                     "Balances the load of a virtualization cluster and saves power: recommends live\n"
                     "migrations, standby and wake of hosts, and carries out what is approved.\n");
    list_verbs(false, "Commands that work without the service:", out);
    list_verbs(true, "Commands of the service:", out);
    strbuf_puts(out, "\nExit codes: 0 success; 1 failure; 2 wrong usage or input; 3 the service\n"
                     "cannot be reached, or is overloaded.\n"
                     "ballast-concepts(7) defines imbalance, entitlement and the other terms.\n");
}

/* A verb's output is printed only after it has succeeded. */
static enum exit_code finish(enum exit_code code, bool answers_no, const struct strbuf *out)
{
    bool counts = code == EXIT_DONE || (code == EXIT_FAILED && answers_no);
    enum exit_code written = counts ? cli_write(out) : EXIT_DONE;

    return written != EXIT_DONE ? written : code;
}

static enum exit_code run_verb(const struct verb *v, int argc, char **argv, struct arena *a,
                               struct strbuf *out)
{
    struct args args;

    client_begin(v);
    switch (options_parse(v, argc, argv, a, &args)) {
    case PARSED_RUN:
        if (args.watch || (v->watches && isatty(STDOUT_FILENO)))
            return watch_run(v, &args);
        return finish(v->run(&args, a, out), v->answers_no, out);
    case PARSED_HELP:
        options_help(v, out);
        return finish(EXIT_DONE, false, out);
    case PARSED_WRONG:
        break;
    }
    return v->misused ? v->misused : EXIT_WRONG;
}

static enum exit_code run(int argc, char **argv, struct arena *a, struct strbuf *out)
{
    const char *word = argc > 1 ? argv[1] : NULL;

    if (!word)
        return cli_fail(EXIT_WRONG, "ballast: no command, see ballast --help");
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (strcmp(word, "help") == 0 && argc == 2)) {
        put_help(out);
        return finish(EXIT_DONE, false, out);
    }
    if (strcmp(word, "--version") == 0) {
        strbuf_puts(out, "ballast " BALLAST_VERSION "\n");
        return finish(EXIT_DONE, false, out);
    }
    if (strcmp(word, "help") == 0 && argc > 2) { /* as `ballast VERB --help` */
        static char help[] = "--help";

        argv[1] = argv[2];
        argv[2] = help;
        argc = 3;
        word = argv[1];
    }
    const struct verb *v = find_verb(word);
    if (!v) {
        refuse_word(word, a);
        return EXIT_WRONG;
    }
    return run_verb(v, argc - 1, argv + 1, a, out);
}

int main(int argc, char **argv)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    return (int)run(argc, argv, &a, &out);
}
