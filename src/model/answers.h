/* answers.h: what external units say of VMs (ballast/inventory.h: struct seen_answer), from JSON and back. */
#ifndef BALLAST_MODEL_ANSWERS_H
#define BALLAST_MODEL_ANSWERS_H

#include "base/json_writer.h"
#include "schema/reader.h"

#include <ballast/inventory.h>

/* *at: struct answer_scores, a list of finite numbers. */
int answer_scores_read(const struct reader *r, const struct node *n, void *at);
void answer_scores_write(struct json_writer *w, const char *key, const void *at);
bool answer_scores_known(const void *at);

/* Whether the answer is one: hosts, hosts with a score for each, or an error. Returns the mistake, or NULL.
 */
const char *answer_mistake(const struct seen_answer *x);

#endif
