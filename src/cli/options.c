#include "cli/options.h"

#include "cli/output.h"

#include <getopt.h>
#include <string.h>

#define VAL_HELP 1
#define VAL_FIRST_OPTION 256 /* past any character, so that no short option is one of ours */

static enum parsed wrong(const struct verb *v, struct arena *a, const char *what)
{
    cli_error("%s", arena_printf(a, "ballast %s: %s, see ballast %s --help", v->name, what, v->name));
    return PARSED_WRONG;
}

static struct option *long_options(const struct verb *v, struct arena *a)
{
    struct option *list = arena_array(a, struct option, v->n_options + 2); /* --help and the end */

    for (size_t i = 0; i < v->n_options; i++) {
        list[i] = (struct option){
            .name = v->options[i].name,
            .has_arg = v->options[i].metavar ? required_argument : no_argument,
            .val = VAL_FIRST_OPTION + (int)i,
        };
    }
    list[v->n_options] = (struct option){.name = "help", .val = VAL_HELP};
    return list;
}

static void add_value(struct option_values *values, struct arena *a, const char *value)
{
    values->items = arena_grow(a, values->items, values->n, &values->cap, sizeof *values->items);
    values->items[values->n++] = value ? value : "";
}

static enum parsed check(const struct verb *v, const struct args *args, struct arena *a)
{
    for (size_t i = 0; i < v->n_options; i++) {
        const struct option_spec *o = &v->options[i];
        if (o->flags & OPTION_REQUIRED && args->options[i].n == 0)
            return wrong(v, a, arena_printf(a, "--%s %s is missing", o->name, o->metavar));
        if (!(o->flags & OPTION_REPEATS) && args->options[i].n > (o->flags & OPTION_PAIR ? 2 : 1))
            return wrong(v, a, arena_printf(a, "--%s is given twice", o->name));
    }
    if (args->n_operands < v->operands_min)
        return wrong(v, a, arena_printf(a, "%s is missing", v->operands));
    if (args->n_operands > v->operands_max)
        return wrong(v, a, arena_printf(a, "\"%s\" is not expected", args->operands[v->operands_max]));
    return PARSED_RUN;
}

enum parsed options_parse(const struct verb *v, int argc, char **argv, struct arena *a, struct args *ret)
{
    struct args args = {.options = arena_array(a, struct option_values, v->n_options)};
    const struct option *list = long_options(v, a);
    int c;

    optind = 0; /* begin anew, whatever was read before */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", list, NULL)) != -1) {
        const char *given = argv[optind - 1];
        if (c == VAL_HELP || c == 'h')
            return PARSED_HELP;
        if (c == ':')
            return wrong(v, a, arena_printf(a, "%s needs a value", given));
        if (c == '?' && optopt >= VAL_FIRST_OPTION)
            return wrong(v, a,
                         arena_printf(a, "--%s takes no value", v->options[optopt - VAL_FIRST_OPTION].name));
        if (c == '?' && optopt > 0 && optopt != VAL_HELP)
            return wrong(v, a, arena_printf(a, "unknown option -%c", optopt));
        if (c == '?')
            return wrong(v, a, arena_printf(a, "unknown option %s", given));
        const struct option_spec *o = &v->options[c - VAL_FIRST_OPTION];
        add_value(&args.options[c - VAL_FIRST_OPTION], a, optarg);
        if (!(o->flags & OPTION_PAIR))
            continue;
        if (optind >= argc) /* getopt knows of one value; the word after it is ours to take */
            return wrong(v, a, arena_printf(a, "--%s needs two values, %s", o->name, o->metavar));
        add_value(&args.options[c - VAL_FIRST_OPTION], a, argv[optind++]);
    }
    args.operands = (const char *const *)argv + optind;
    args.n_operands = (size_t)(argc - optind);
    enum parsed parsed = check(v, &args, a);
    if (parsed == PARSED_RUN)
        *ret = args;
    return parsed;
}

const char *args_value(const struct args *args, size_t option, const char *fallback)
{
    const struct option_values *values = &args->options[option];

    return values->n > 0 ? values->items[values->n - 1] : fallback;
}

static const char *spelling(const struct option_spec *o, struct arena *a)
{
    return o->metavar ? arena_printf(a, "--%s %s", o->name, o->metavar) : arena_printf(a, "--%s", o->name);
}

void options_help(const struct verb *v, struct strbuf *out)
{
    struct arena scratch = {0};
    int width = (int)strlen("--help");

    strbuf_printf(out, "Usage: ballast %s", v->name);
    for (size_t i = 0; i < v->n_options; i++) {
        const struct option_spec *o = &v->options[i];
        const char *text = spelling(o, &scratch);
        strbuf_printf(out, o->flags & OPTION_REQUIRED ? " %s" : " [%s]", text);
        if (o->flags & OPTION_REPEATS)
            strbuf_puts(out, "...");
        if ((int)strlen(text) > width)
            width = (int)strlen(text);
    }
    if (v->operands)
        strbuf_printf(out, " %s", v->operands);
    strbuf_printf(out, "\n\n%s\n\n", v->summary);
    for (size_t i = 0; i < v->n_options; i++)
        strbuf_printf(out, "  %-*s  %s\n", width, spelling(&v->options[i], &scratch), v->options[i].meaning);
    strbuf_printf(out, "  %-*s  this text\n", width, "--help");
    if (v->more)
        strbuf_printf(out, "\n%s\n", v->more);
    arena_release(&scratch);
}
