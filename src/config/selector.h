/* selector.h: conditions of VMs and hosts, and lists of them. Inside config only. */
#ifndef BALLAST_CONFIG_SELECTOR_H
#define BALLAST_CONFIG_SELECTOR_H

#include "overlay/selector.h"
#include "schema/reader.h"

#define PATTERNS_MOST 1000 /* in a list */

/* Fields of a struct condition at this offset. */
#define CONDITION_FIELDS(at)                                                                                 \
    {.name = "name",                                                                                         \
     .type = FIELD_IDS,                                                                                      \
     .max = PATTERNS_MOST,                                                                                   \
     .offset = (at) + offsetof(struct condition, names),                                                     \
     .meaning = "patterns of names or ids"},                                                                 \
        {.name = "label",                                                                                    \
         .type = FIELD_IDS,                                                                                  \
         .max = PATTERNS_MOST,                                                                               \
         .offset = (at) + offsetof(struct condition, labels),                                                \
         .meaning = "labels: KEY, or KEY=VALUE with a pattern for the value"},                               \
    {                                                                                                        \
        .name = "tag", .type = FIELD_IDS, .max = PATTERNS_MOST,                                              \
        .offset = (at) + offsetof(struct condition, tags), .meaning = "patterns of tags"                     \
    }

#define CONDITION_FOLDER(at)                                                                                 \
    {                                                                                                        \
        .name = "folder", .type = FIELD_IDS, .max = PATTERNS_MOST,                                           \
        .offset = (at) + offsetof(struct condition, folders),                                                \
        .meaning = "patterns of folders; those below are included"                                           \
    }

/* field_reader of a struct selector. */
int config_read_vms(const struct reader *r, const struct node *n, void *at);
int config_read_hosts(const struct reader *r, const struct node *n, void *at);

/* Refuses what could never select anything. */
int config_check_condition(const struct reader *r, const struct node *n, const struct condition *c);

#endif
