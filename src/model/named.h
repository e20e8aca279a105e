/* named.h: an object by what a person calls it.
 *
 * What is printed are names, and a vCenter's ids (host-31, vm-1042) are seen in JSON only. So whoever asks
 * about an object of a snapshot may say either: its id, or else its name, if no other one has the same. That
 * is also how the service takes hosts and VMs.
 */
#ifndef BALLAST_MODEL_NAMED_H
#define BALLAST_MODEL_NAMED_H

#include <ballast/err.h>
#include <ballast/snapshot.h>

/* -EINVAL, with a sentence that quotes the word: nobody is called so, or several are, and then two ids are
 * said. */
int named_host(const struct snapshot *s, const char *word, uint32_t *ret_host, struct err *err);
int named_vm(const struct snapshot *s, const char *word, uint32_t *ret_vm, struct err *err);

#endif
