/* leftovers.h: what migrations may have left over on hosts that did not answer: each is looked at every few
 * seconds, in one thread for all, until nothing of it can be left over. A note in the metadata of the VM
 * (net/libvirt/settings.h) tells the next process, if this one ends before. */
#ifndef BALLAST_ACTUATORS_LIBVIRT_LEFTOVERS_H
#define BALLAST_ACTUATORS_LIBVIRT_LEFTOVERS_H

#include "actuators/libvirt/migrations.h"
#include "actuators/libvirt/vm_look.h"

struct leftovers;

struct leftovers *leftovers_new(void);
/* Its thread has ended. */
void leftovers_free(struct leftovers *l);
/* The thread ends soon. */
void leftovers_close(struct leftovers *l);

/* Looks at the task until it is settled; m: whose hosts it is about. */
void leftovers_add(struct leftovers *l, struct migrations *m, const struct task_name *t);

/* A task of the same VM begins: what an earlier migration left on its source is to be compared with the host
 * where the VM goes now. */
void leftovers_redirect(struct leftovers *l, const struct task_name *t);

/* Notes the task in the VM, where it runs; the leftover removes the note when it is settled. */
void leftovers_note(const struct vm_looks *looks, const struct task_name *t);

/* A note was found in the VM on this host: the same as leftovers_add(), unless this process migrates the VM
 * just now. */
void leftovers_found(struct migrations *m, const char *vm, const char *host, const char *task);

#endif
