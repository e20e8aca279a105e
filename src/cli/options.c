/* options.c: parses a verb's command line and prints its --help, both from the verb's table. */
#include "cli/options.h"

#include "base/cleanup.h"
#include "cli/output.h"
#include "render/table.h"
#include "schema/suggest.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

#define VAL_HELP 1
#define VAL_WATCH 2
#define VAL_FIRST_OPTION 256 /* beyond any character, so that no short option collides */

static enum parsed wrong(const struct verb *v, struct arena *a, const char *what)
{
    cli_error("%s", arena_printf(a, "ballast %s: %s, see ballast %s --help", v->name, what, v->name));
    return PARSED_WRONG;
}

static const char *spelling(const struct option_spec *o, struct arena *a)
{
    return o->metavar ? arena_printf(a, "--%s %s", o->name, o->metavar) : arena_printf(a, "--%s", o->name);
}

static enum parsed unknown(const struct verb *v, struct arena *a, const char *given)
{
    const char **names = arena_array(a, const char *, v->n_options);

    for (size_t i = 0; i < v->n_options; i++)
        names[i] = v->options[i].name;
    const char *word = arena_strndup(a, given + strspn(given, "-"), strcspn(given + strspn(given, "-"), "="));
    const char *near = suggest(word, names, v->n_options);

    return wrong(v, a,
                 near ? arena_printf(a, "unknown option %s, did you mean --%s?", given, near)
                      : arena_printf(a, "unknown option %s", given));
}

static struct option *long_options(const struct verb *v, struct arena *a)
{
    struct option *list = arena_array(a, struct option, v->n_options + 3); /* --help, --watch and the end */

    for (size_t i = 0; i < v->n_options; i++) {
        list[i] = (struct option){
            .name = v->options[i].name,
            .has_arg = v->options[i].metavar ? required_argument : no_argument,
            .val = VAL_FIRST_OPTION + (int)i,
        };
    }
    list[v->n_options] = (struct option){.name = "help", .val = VAL_HELP};
    if (v->can_watch)
        list[v->n_options + 1] = (struct option){.name = "watch", .val = VAL_WATCH};
    return list;
}

static void add_value(struct option_values *values, struct arena *a, const char *value)
{
    values->items = arena_grow(a, values->items, values->n, &values->cap, sizeof *values->items);
    values->items[values->n++] = value ? value : "";
}

/* Where the table lists the words, "cpu|mem", the value is one of them. */
static enum parsed check_word(const struct option_spec *o, const char *value, struct arena *a)
{
    const char *words = "";

    if (!o->metavar || !strchr(o->metavar, '|') || !islower((unsigned char)*o->metavar))
        return PARSED_RUN;
    for (const char *word = o->metavar; *word;) {
        size_t n = strcspn(word, "|");

        if (strlen(value) == n && strncmp(value, word, n) == 0)
            return PARSED_RUN;
        words = arena_printf(a, "%s%s%.*s", words, !*words ? "" : word[n] ? ", " : " or ", (int)n, word);
        word += n + (word[n] == '|');
    }
    cli_error("--%s: \"%s\" is not known, expected %s", o->name, value, words);
    return PARSED_WRONG;
}

static enum parsed check(const struct verb *v, const struct args *args, struct arena *a)
{
    for (size_t i = 0; i < v->n_options; i++) {
        const struct option_spec *o = &v->options[i];
        if (o->flags & OPTION_REQUIRED && args->options[i].n == 0)
            return wrong(v, a, arena_printf(a, "%s is missing", spelling(o, a)));
        if (!(o->flags & OPTION_REPEATS) && args->options[i].n > (o->flags & OPTION_PAIR ? 2 : 1))
            return wrong(v, a, arena_printf(a, "--%s is given twice", o->name));
        for (size_t k = 0; k < args->options[i].n; k++)
            if (check_word(o, args->options[i].items[k], a) != PARSED_RUN)
                return PARSED_WRONG;
    }
    if (args->n_operands < v->operands_min)
        return wrong(v, a, arena_printf(a, "%s is missing", v->operands));
    if (args->n_operands > v->operands_max)
        return wrong(v, a, arena_printf(a, "\"%s\" is not expected", args->operands[v->operands_max]));
    return PARSED_RUN;
}

/* --socket and --format, for the verbs that have them. */
static void read_common(const struct verb *v, struct args *args)
{
    for (size_t i = 0; i < v->n_options; i++) {
        const char *word = args_value(args, i, NULL);

        if (strcmp(v->options[i].name, "socket") == 0)
            args->socket = word;
        else if (word && strcmp(v->options[i].name, "format") == 0)
            args->json = strcmp(word, "json") == 0;
    }
}

enum parsed options_parse(const struct verb *v, int argc, char **argv, struct arena *a, struct args *ret)
{
    struct args args = {.verb = v, .options = arena_array(a, struct option_values, v->n_options)};
    const struct option *list = long_options(v, a);
    int c;

    optind = 0; /* restart getopt */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", list, NULL)) != -1) {
        const char *given = argv[optind - 1];
        if (c == VAL_HELP || c == 'h')
            return PARSED_HELP;
        if (c == VAL_WATCH) {
            args.watch = true;
            continue;
        }
        if (c == ':')
            return wrong(v, a, arena_printf(a, "%s needs a value", given));
        if (c == '?' && optopt >= VAL_FIRST_OPTION)
            return wrong(v, a,
                         arena_printf(a, "--%s takes no value", v->options[optopt - VAL_FIRST_OPTION].name));
        if (c == '?' && optopt > VAL_WATCH)
            return wrong(v, a, arena_printf(a, "unknown option -%c", optopt));
        if (c == '?')
            return unknown(v, a, given);
        const struct option_spec *o = &v->options[c - VAL_FIRST_OPTION];
        add_value(&args.options[c - VAL_FIRST_OPTION], a, optarg);
        if (!(o->flags & OPTION_PAIR))
            continue;
        if (optind >= argc) /* getopt takes one value; the second word is taken here */
            return wrong(v, a, arena_printf(a, "--%s needs two values, %s", o->name, o->metavar));
        add_value(&args.options[c - VAL_FIRST_OPTION], a, argv[optind++]);
    }
    args.operands = (const char *const *)argv + optind;
    args.n_operands = (size_t)(argc - optind);
    enum parsed parsed = check(v, &args, a);
    read_common(v, &args);
    if (parsed == PARSED_RUN)
        *ret = args;
    return parsed;
}

/* Options and operands are never broken across lines. */
static void put_usage(const struct verb *v, struct arena *a, struct strbuf *out)
{
    const char *begin = arena_printf(a, "Usage: ballast %s", v->name);
    size_t indent = strlen(begin);
    size_t at = indent;

    strbuf_puts(out, begin);
    for (size_t i = 0; i < v->n_options + 2; i++) {
        const struct option_spec *o = i < v->n_options ? &v->options[i] : NULL;
        const char *word = i > v->n_options ? v->operands : v->can_watch ? "[--watch]" : NULL;
        if (o) {
            word = spelling(o, a);
            word = arena_printf(a, o->flags & OPTION_REQUIRED ? "%s" : "[%s]", word);
            word = arena_printf(a, "%s%s", word, o->flags & OPTION_REPEATS ? "..." : "");
        }
        if (!word)
            continue;
        if (at + 1 + strlen(word) > TABLE_WIDTH) {
            strbuf_printf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        strbuf_printf(out, " %s", word);
        at += 1 + strlen(word);
    }
    strbuf_puts(out, "\n");
}

/* Lines that begin with a blank are kept; the others between them are one paragraph. */
static void put_more(const char *more, struct arena *a, struct strbuf *out)
{
    while (*more) {
        const char *paragraph = "";
        while (*more && *more != '\n' && *more != ' ') {
            size_t n = strcspn(more, "\n");
            paragraph = arena_printf(a, "%s%.*s ", paragraph, (int)n, more);
            more += n + (more[n] == '\n');
        }
        if (*paragraph)
            table_put_hanging(out, paragraph, 0, 0);
        while (*more == '\n' || *more == ' ') {
            size_t n = strcspn(more, "\n");
            strbuf_printf(out, "%.*s\n", (int)n, more);
            more += n + (more[n] == '\n');
        }
    }
}

void options_help_line(const char *what, size_t width, const char *meaning, struct strbuf *out)
{
    strbuf_printf(out, "  %-*s ", (int)width, what);
    table_put_hanging(out, meaning, 3 + width, 4 + width);
}

void options_help(const struct verb *v, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};
    size_t width = strlen(v->can_watch ? "--watch" : "--help");

    put_usage(v, &scratch, out);
    strbuf_puts(out, "\n");
    table_put_hanging(out, v->summary, 0, 0);
    strbuf_puts(out, "\n");
    for (size_t i = 0; i < v->n_options; i++) {
        size_t n = strlen(spelling(&v->options[i], &scratch));
        width = n > width ? n : width;
    }
    for (size_t i = 0; i < v->n_options; i++)
        options_help_line(spelling(&v->options[i], &scratch), width, v->options[i].meaning, out);
    if (v->can_watch)
        options_help_line(
            "--watch", width,
            "on a terminal: show it again every two seconds, until q; arrows, Page Up, Page Down, Home and "
            "End scroll",
            out);
    options_help_line("--help", width, "show this help", out);
    if (v->more) {
        strbuf_puts(out, "\n");
        put_more(v->more, &scratch, out);
    }
}
