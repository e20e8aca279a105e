/* ipmi.h: a host switched through its management controller, by IPMI 2.0 over LAN (RMCP+; libfreeipmi).
 *
 * Each call opens a session of its own and is over within the host's timeout_s, whatever the controller does;
 * when *stop is set it returns -ECANCELED within a fraction of a second. A wake-up or shut-down looks at the
 * chassis first and sends nothing when it is as wanted. cut() refuses with -EPERM while hard_off is not set.
 */
#ifndef BALLAST_IPMI_H
#define BALLAST_IPMI_H

#include <ballast/power.h>

extern const struct power_method_ops ipmi_method;

#endif
