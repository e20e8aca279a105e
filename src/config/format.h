/* format.h: a configuration file in the order of conf/ballast.yaml. */
#ifndef BALLAST_CONFIG_FORMAT_H
#define BALLAST_CONFIG_FORMAT_H

#include "base/strbuf.h"

#include <ballast/arena.h>
#include <ballast/err.h>

#include <stddef.h>

/* Adds the text with its keys in the order of conf/ballast.yaml to *out. Whole lines are moved and none is
 * changed, so comments are kept: those directly above a key move with it. Entries that have names of the
 * user's (rules, pools, hosts of power.hosts) and lists keep their order, because it may count, and so does
 * what stands in braces.
 *
 * -EINVAL and one sentence: the text is no YAML, or its lines cannot be moved without a change of its
 * meaning. file: for errors. The values themselves are not checked. */
int config_format(const char *file, const char *text, size_t len, struct arena *a, struct strbuf *out,
                  struct err *err);

/* A copy of the text in the arena whose lines with only a comment are empty: it has the same meaning and the
 * same numbers of lines. The text itself if that is not so. */
const char *config_without_comments(const char *text, size_t len, struct arena *a, size_t *ret_len);

#endif
