/* cloud.h: a cloud in the words of another scheduler, from files. A function that fails has printed one line
 * on standard error. */
#ifndef BALLAST_CLI_CLOUD_H
#define BALLAST_CLI_CLOUD_H

#include "cli/verb.h"

#include <ballast/err.h>
#include <ballast/snapshot.h>

#include <jansson.h>

/* One object of all that the paths have; the caller frees it. "-" is standard input; a folder stands for its
 * *.json and *.conf in the order of their names. An object in JSON gives its members, as the API answers
 * ({"servers": [...]}); a list is the member of the file's name (servers.json); a text of *.conf is
 * "nova.conf". No member may come twice. */
enum exit_code cli_read_cloud(const char *const *paths, size_t n, struct arena *a, json_t **ret);

/* What a dialect makes of a cloud. */
typedef int cloud_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err);

/* The cloud as a snapshot. whose: names it in errors. */
enum exit_code cli_compile_cloud(cloud_compile *compile, const json_t *cloud, const char *whose,
                                 struct arena *a, struct snapshot *ret);

#endif
