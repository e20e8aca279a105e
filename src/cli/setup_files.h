/* setup_files.h: the files of `ballast setup`: first in a folder of their own, then in their place.
 *
 * FILE is NAME.yaml; beside it NAME.password and NAME-ca.pem. What is there is kept as a copy. */
#ifndef BALLAST_CLI_SETUP_FILES_H
#define BALLAST_CLI_SETUP_FILES_H

#include "base/strbuf.h"
#include "cli/setup_kinds.h"
#include "config/config.h"

#include <jansson.h>
#include <stdatomic.h>

#define CONFIG_DEFAULT "/etc/ballast/ballast.yaml"
#define PEM_BEGIN "-----BEGIN "

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

/* The key of the configuration. */
const struct field *setup_file_key(const struct setup *s, const char *key);

/* The name of the file that the answer is kept in; NULL: it stands in the configuration. */
const char *setup_file_of(const struct setup *s, const struct answer *x);

void setup_file_put_config(const struct setup *s, struct strbuf *out);

/* Whether a unit reads the file; false: a line has been printed. */
bool setup_file_check_place(const struct setup *s);

/* Whether the file is not there, is the one of the package, whatever its comments, or may be another: asks.
 */
bool setup_file_may_replace(const struct setup *s, const char *path);

/* The folder of unfinished files. false: a line has been printed. */
bool setup_file_make_stage(struct setup *s);
void setup_file_remove_stage(const struct setup *s);

/* Negative: a line has been printed. */
int setup_file_write_stage(const struct setup *s);
int setup_file_replace(const struct setup *s);

#endif
