/* named.h: a host or a VM by its id or its name.
 *
 * Output shows names; a vCenter's ids (host-31, vm-1042) appear in JSON only. So a user may give either: the
 * id, or the name if it is unique. The service takes hosts and VMs by this rule, too. A
 * host's name may be given without its domain, or a part of it, if no other host begins so.
 */
#ifndef BALLAST_MODEL_NAMED_H
#define BALLAST_MODEL_NAMED_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/snapshot.h>

/* The end that the names of all hosts share, from a dot on (".dc1.example.com"); "" if there is none, if
 * there is only one host, or if the names are addresses. Without it the names still differ: text for people
 * leaves it out. It belongs to the snapshot. */
const char *named_host_domain(const struct snapshot *s);

/* What a log line calls the host or VM with this id: its name, and the id behind it if others have the name
 * too; the id if it is not in the snapshot (NULL: none yet). NULL for NULL. */
const char *named_host_label(const struct snapshot *s, const char *id, struct arena *a);
const char *named_vm_label(const struct snapshot *s, const char *id, struct arena *a);

/* What a user may type for this host: its name, or its id if others have the name too. */
const char *named_host_word(const struct snapshot *s, uint32_t host);

/* The VMs that are registered on the host and do not run, as "a, b and 3 more"; *ret_n is their number. NULL:
 * there are none. Without the host's agents, which run when it does. */
const char *named_off_vms(const struct snapshot *s, uint32_t host, const bool *without, uint32_t *ret_n,
                          struct arena *a);

/* -EINVAL with a sentence that quotes the word: no object has this name, or several have, and then the
 * sentence lists two ids. */
int named_host(const struct snapshot *s, const char *word, uint32_t *ret_host, struct err *err);
int named_vm(const struct snapshot *s, const char *word, uint32_t *ret_vm, struct err *err);

#endif
