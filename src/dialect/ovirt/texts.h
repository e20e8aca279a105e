/* texts.h: parts of expressions that several stages have. In ' for ". */
#ifndef BALLAST_DIALECT_OVIRT_TEXTS_H
#define BALLAST_DIALECT_OVIRT_TEXTS_H

#define IS_HERE "['=', '$host.id', '$vm.hints.home']"

/* CPUs that are left to VMs that hold none alone. */
#define SHARED "['-', '$host.attributes.shared base', '$host.used.exclusive cpus']"

/* The memory that may be scheduled, without the VM. */
#define SCHEDULABLE "['-', '$host.attributes.sched base', '$host.used.memory need']"

#endif
