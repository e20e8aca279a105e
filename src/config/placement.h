/* placement.h: reads `groups:`, `units:` and `pipelines:`. Inside config only. */
#ifndef BALLAST_CONFIG_PLACEMENT_H
#define BALLAST_CONFIG_PLACEMENT_H

#include "config/section.h"

/* What filters read of VMs and hosts: a struct attributes at this offset. */
#define ATTRIBUTES_FIELD(key, at, text)                                                                      \
    {                                                                                                        \
        .name = (key), .type = FIELD_OWN, .offset = (at), .read = attributes_read, .meaning = (text)         \
    }

/* field_check of names and kinds. */
const char *config_check_name(const char *text);

int config_read_groups(const struct section *s, const struct node *n);
int config_read_units(const struct section *s, const struct node *n);
int config_read_pipelines(const struct section *s, const struct node *n);

#endif
