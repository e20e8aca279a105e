/* setup_kinds.h: what `ballast setup` asks for each kind of source, in the words of the tables of keys. To
 * add a kind: a row here, and preflight_about() in the collector's preflight, which says what to ask again.
 */
#ifndef BALLAST_CLI_SETUP_KINDS_H
#define BALLAST_CLI_SETUP_KINDS_H

#include <ballast/arena.h>

#define SETUP_QUESTIONS_MAX 6

#define SETUP_OPTIONAL (1u << 0)
#define SETUP_LATER (1u << 1) /* asked only where a check finds that it is needed */
#define SETUP_WITH_FORMER                                                                                    \
    (1u << 2) /* where it is missing or wrong, the one before may be, too: both are asked */

struct setup_question {
    const char *key;     /* of the configuration; NULL: no more */
    const char *example; /* NULL: none */
    unsigned flags;
    /* What was typed, in the file's syntax, in the arena. NULL: setup_kinds_quote(). */
    const char *(*value)(const char *typed, struct arena *a);
};

extern const struct setup_question setup_name, setup_source_kind; /* of all */

extern const struct setup_kind {
    const char *kind; /* NULL: the end */
    struct setup_question questions[SETUP_QUESTIONS_MAX];
} setup_kinds[];

/* As a quoted text of YAML. */
const char *setup_kinds_quote(const char *typed, struct arena *a);

#endif
