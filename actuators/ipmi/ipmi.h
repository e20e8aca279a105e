/* ipmi.h: the power method IPMI: switches a host by its management controller, with IPMI 2.0 over LAN (RMCP+;
 * libfreeipmi).
 *
 * Each call opens a session of its own and returns within the host's timeout_s, whatever the controller
 * does; when *stop is set it returns -ECANCELED within a fraction of a second. wake() and shut_down() read
 * the chassis' state first and send no command when it is as wanted already. cut() fails with -EPERM while
 * hard_off is not set.
 */
#ifndef BALLAST_IPMI_H
#define BALLAST_IPMI_H

#include <ballast/power.h>

extern const struct power_method_ops ipmi_method;
extern const struct power_keys ipmi_keys;

#endif
