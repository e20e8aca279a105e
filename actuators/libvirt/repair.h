/* repair.h: what decide.h asks for: definitions deleted or written, and whether the VM starts with its host.
 */
#ifndef BALLAST_ACTUATORS_LIBVIRT_REPAIR_H
#define BALLAST_ACTUATORS_LIBVIRT_REPAIR_H

#include "actuators/libvirt/vm_look.h"

/* Not an error: another look is due. */
#define REPAIR_AGAIN 1

/* Carries out the decision on a task that has ended. 0: nothing more is to be done; REPAIR_AGAIN: something
 * is left, with *err (code 0: nothing to say); < 0: what is left has to be done by a person, who alone knows
 * it. */
int repair_run(const struct vm_looks *looks, const struct task_name *t, const struct decision *d,
               struct err *err);

#endif
