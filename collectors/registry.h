/* registry.h: every kind of source that is compiled in. */
#ifndef BALLAST_COLLECTORS_REGISTRY_H
#define BALLAST_COLLECTORS_REGISTRY_H

#include <ballast/collector.h>

/* By the word after `source: kind:`; NULL: there is none. */
const struct collector_ops *collector_find(const char *kind);

/* All of them, NULL at the end. */
const struct collector_ops *const *collectors_all(void);

#endif
