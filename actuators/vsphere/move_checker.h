/* move_checker.h: asks vCenter whether it would carry out a migration, before it is started.
 *
 * vCenter knows more than an inventory: CPU features, connected devices, LUNs. Its check is a task of its
 * own, which ends within a second or two.
 *
 * Source: vSphere Web Services API, VirtualMachineProvisioningChecker.QueryVMotionCompatibilityEx_Task,
 * CheckMigrate_Task, CheckResult.
 */
#ifndef BALLAST_ACTUATORS_VSPHERE_MOVE_CHECKER_H
#define BALLAST_ACTUATORS_VSPHERE_MOVE_CHECKER_H

#include "net/vsphere/session.h"

#include <ballast/actuator.h>

/* What the peer has shown; of one connection. */
struct move_checker {
    unsigned missing; /* methods that the peer does not have, or that this user may not call; a bit each */
};

/* 0: vCenter finds no error, or has not said within some seconds, or has no such method (which is then not
 * called again). -EPERM: it would refuse, with its words. Errors of vsphere_call(). vm_name, host_name: for
 * the sentence. */
int move_checker_ask(struct move_checker *c, struct vsphere *v, const struct operation *q,
                     const char *vm_name, const char *host_name, struct err *err);

#endif
