/* verb.h: a verb of the command: its name, its options, its function.
 *
 * A verb is one const struct verb, in a file of its own unless it only sends one request (requests.c), and a
 * line in verbs.h. Its options are a table, from which parser and help are derived; the verb finds their
 * values by the table's indices. Those of --socket and --format (text or json) are in struct args:
 *
 *     enum { OPT_SNAPSHOT, OPT_FORMAT };
 *     static const struct option_spec options[] = {
 *         [OPT_SNAPSHOT] = {"snapshot", "FILE", OPTION_REQUIRED, "the cluster; - reads standard input"},
 *         [OPT_FORMAT] = OPTION_FORMAT,
 *     }; */
#ifndef BALLAST_CLI_VERB_H
#define BALLAST_CLI_VERB_H

#include "base/strbuf.h"

#include <ballast/arena.h>

#include <stdbool.h>
#include <stddef.h>

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* the request was valid and failed */
    EXIT_WRONG = 2,  /* wrong usage or input */
    EXIT_UNREACHABLE =
        3, /* the service cannot be reached, or is overloaded: the same request may succeed later */
};

#define OPTION_REQUIRED (1u << 0)
#define OPTION_REPEATS (1u << 1)
#define OPTION_PAIR (1u << 2) /* takes two words: "--compare A B"; both are among its values */

struct option_spec {
    const char *name;    /* without its dashes */
    const char *metavar; /* "FILE", or the words of which the value is one: "cpu|mem"; NULL: no value */
    unsigned flags;
    const char *meaning;
};

/* The values of an option in the order given; for one without a value, how often it was given. */
struct option_values {
    const char **items;
    size_t n, cap;
};

struct args {
    const struct verb *verb;
    struct option_values *options; /* by index of the verb's table */
    const char *const *operands;
    size_t n_operands;
    bool watch;         /* --watch was given */
    bool json;          /* --format json was given */
    const char *socket; /* the value of --socket; NULL: not given */
};

struct verb {
    const char *name;
    const char *former_name; /* still accepted, with a warning; NULL: none */
    const char *summary;     /* one line */
    const char *more;        /* further text of --help, see options.c for its lines; NULL: none */
    const char *operands;    /* as in the usage line: "ID..."; NULL: none */
    size_t operands_min, operands_max;
    const struct option_spec *options;
    size_t n_options;
    bool needs_service;
    bool can_watch;         /* has --watch */
    bool watches;           /* on a terminal, without --watch too */
    bool answers_no;        /* the output is valid with EXIT_FAILED too: "it cannot be done" is an answer */
    enum exit_code misused; /* the exit code of a wrong command line; 0: EXIT_WRONG */
    /* `a` is released afterwards. Standard output is added to `out`, which is written only for EXIT_DONE (or
     * EXIT_FAILED, see above). */
    enum exit_code (*run)(const struct args *args, struct arena *a, struct strbuf *out);
    const struct client_request *request; /* of client_run(), else NULL (client.h) */
};

/* The last value of an option, or fallback. */
static inline const char *args_value(const struct args *args, size_t option, const char *fallback)
{
    const struct option_values *values = &args->options[option];

    return values->n > 0 ? values->items[values->n - 1] : fallback;
}

#define OPTION_FORMAT                                                                                        \
    {                                                                                                        \
        "format", "text|json", 0, "output for people or for programs; default text"                          \
    }

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#endif
