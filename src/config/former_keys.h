/* former_keys.h: keys that had another name in earlier versions, or are not used any more. They are still
 * accepted, with a warning. */
#ifndef BALLAST_CONFIG_FORMER_KEYS_H
#define BALLAST_CONFIG_FORMER_KEYS_H

#include "config/section.h"

/* Gives former keys in the file their present names, takes out those that are not used any more, and warns
 * once for each. -EINVAL if the file has a key under both names. */
int former_keys_rename(const struct section *s, struct node *root);

#endif
