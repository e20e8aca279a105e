/* expression.h: expressions (ballast/expression.h) from files, and back to JSON.
 *
 * What can be known of types without data is checked here: an operand of a wrong type is refused with its
 * place and what was expected. The rest shows when an expression is evaluated (src/core/fit). */
#ifndef BALLAST_MODEL_EXPRESSION_H
#define BALLAST_MODEL_EXPRESSION_H

#include "base/json_writer.h"
#include "schema/reader.h"

#include <ballast/expression.h>

/* *at: struct expression, whose value may be a truth. Every text lives in the reader's arena. */
int expression_read(const struct reader *r, const struct node *n, void *at);
int expression_read_number(const struct reader *r, const struct node *n, void *at);
int expression_read_texts(const struct reader *r, const struct node *n, void *at); /* or one text */
void expression_write(struct json_writer *w, const char *key, const void *at);
void expression_copy(const void *from, void *to, struct arena *a);

/* Whether there is one. */
bool expression_known(const void *at);

/* Only the part that begins with this node. */
void expression_write_part(struct json_writer *w, const char *key, const struct expression *x, uint32_t node);

/* "$host.attributes.cores": of a variable. */
const char *expression_variable_text(const struct expression_node *variable, struct arena *a);

/* Whether the text is a list of conditions on a version: ">=6.0, <7"; if so, whether the version keeps them.
 * A version has numbers between dots, and missing ones are 0. False in *ret for a text that is no version. */
bool version_agrees(const char *version, const char *conditions, bool *ret);

#endif
