/* controller_identity.h: whether the controller that answers now is the one that was identified a moment
 * ago. Between the two an address can become another machine's: by DHCP, by a cable, by a chassis that
 * numbers its nodes anew. */
#ifndef BALLAST_BASE_CONTROLLER_IDENTITY_H
#define BALLAST_BASE_CONTROLLER_IDENTITY_H

#include <ballast/power.h>

/* 0: both are the same, or only is NULL; else -EPERM, with a sentence that names both. */
int controller_identity_same(const struct controller_identity *only, const struct controller_identity *now,
                             struct err *err);

#endif
