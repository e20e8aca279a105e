/* peer_identities.h: which machines and managers a source has led to so far, so that another one that answers
 * at the same address is noticed before anything is asked of it.
 *
 * An address may come to lead elsewhere: a name that was moved, a typing error in a second address, a copy of
 * a server. Each peer has a text that tells it from others: of Proxmox VE its cluster's certificate
 * authority, of a vCenter its instanceUuid, of a KVM host the UUID of its hardware and its name. The first
 * answer is learned and kept in the store; from then on each connection is compared. */
#ifndef BALLAST_BASE_PEER_IDENTITIES_H
#define BALLAST_BASE_PEER_IDENTITIES_H

#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>

struct peer_identities; /* used by any number of threads */

/* text: what peer_identities_write() gave; NULL, or no such text: nothing is known. */
struct peer_identities *peer_identities_new(const char *text);
void peer_identities_free(struct peer_identities *p); /* NULL is fine */

/* 0: `peer` ("cluster", the name of a host) is what it was, or was not known, and is now. `is`: words, one of
 * which is enough to know it again (hardware may be exchanged, a host may get another name); "": it says
 * nothing of itself. p: NULL: nothing is compared. -EKEYREJECTED: it is another one. */
int peer_identities_check(struct peer_identities *p, const char *peer, const char *is, struct err *err);

/* What any service that works on the same cluster finds, whatever way it writes the address: the lowest of
 * the texts given. p: NULL is fine. */
void peer_identities_offer_name(struct peer_identities *p, const char *name);
void peer_identities_name(struct peer_identities *p, char *ret, size_t size); /* "": none was given */

/* What is known, to be stored; the caller frees it. NULL: nothing is new since the last call. */
char *peer_identities_write(struct peer_identities *p);

/* The next answer of each peer is learned, whatever it is: a person has said that they are the right ones.
 * False: none has been refused since the last call. */
bool peer_identities_forget(struct peer_identities *p);

#endif
