/* former_keys.h: keys that had another name in earlier versions. They are still accepted, with a warning. */
#ifndef BALLAST_CONFIG_FORMER_KEYS_H
#define BALLAST_CONFIG_FORMER_KEYS_H

#include "config/section.h"

/* Gives former keys in the file their present names, and warns once for each. -EINVAL if the file has both.
 */
int former_keys_rename(const struct section *s, struct node *root);

#endif
