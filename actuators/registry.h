/* registry.h: every kind of source that can be acted on. */
#ifndef BALLAST_ACTUATORS_REGISTRY_H
#define BALLAST_ACTUATORS_REGISTRY_H

#include <ballast/actuator.h>

/* By the word after `source: kind:`; NULL: it can only be looked at (a file). */
const struct actuator_ops *actuator_find(const char *kind);

/* All of them, NULL at the end. */
const struct actuator_ops *const *actuators_all(void);

#endif
