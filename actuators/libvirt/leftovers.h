/* leftovers.h: what migrations may have left over on hosts that did not answer: each is looked at every few
 * seconds until nothing of it can be left over. A note in the metadata of the VM (net/libvirt/settings.h)
 * tells the next process, if this one ends before. There is a thread for each pair of hosts, so that a host
 * that hangs holds back no other's repairs. */
#ifndef BALLAST_ACTUATORS_LIBVIRT_LEFTOVERS_H
#define BALLAST_ACTUATORS_LIBVIRT_LEFTOVERS_H

#include "actuators/libvirt/migrations.h"
#include "actuators/libvirt/vm_look.h"

struct leftovers;

struct leftovers *leftovers_new(void);
/* Its threads have ended. */
void leftovers_free(struct leftovers *l);
/* The threads end soon. */
void leftovers_close(struct leftovers *l);

/* The task has ended, as the hosts show: what earlier tasks of the VM have left over is compared with the
 * host where the VM is now. unsettled: this one may have left something over, too, which is noted in the VM
 * and looked at from now on. m: whose hosts it is about. */
void leftovers_task_ended(struct leftovers *l, struct migrations *m, const struct vm_looks *looks,
                          const struct task_name *t, const struct decision *d, enum call_state call,
                          bool unsettled);

/* A note was found in the VM on this host, where it runs, or does not: the same as at the end of the task,
 * unless this process migrates the VM just now. */
void leftovers_found(struct migrations *m, const char *vm, const char *host, bool runs, const char *task);

/* ---- pure parts, for tests ---- */

#define LEFTOVER_NOTE_MAX 4096

/* A note that says that the VM has arrived is removed only by who knows that, too.
 *
 * The text of a note that says of t->from what t says, or nothing any more, beside what the note says of
 * other hosts already (NULL: there is none). -ENOENT: nothing is to be noted; -E2BIG: it would become too
 * long. */
int leftovers_note_text(const char *before, const struct task_name *t, bool there,
                        char ret[LEFTOVER_NOTE_MAX]);

#endif
