/* refusals.h: why a host refuses the connection, as one sentence that says what to mend. */
#ifndef BALLAST_NET_LIBVIRT_REFUSALS_H
#define BALLAST_NET_LIBVIRT_REFUSALS_H

#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>

/* Sets the error of a failed virConnectOpenAuth() from what libvirt said last on this thread. username: NULL:
 * none. Where libvirt keeps to itself what is wrong with the host's certificate, it is fetched once more:
 * some seconds at most. Returns what libvirt_connections_fail() would, and -EACCES for all refusals. */
int libvirt_refusals_fail(struct err *err, const char *host, const char *uri, const char *username);

/* Whether the error of libvirt_refusals_fail() says that source.username or its password is missing or wrong.
 */
bool libvirt_refusals_is_about_user(const char *error);

/* ---- pure part, for tests ---- */

/* The sentence for a text of libvirt's, in ret: `text` itself where it needs no other. True: it is a refusal.
 */
bool libvirt_refusals_explain(const char *text, const char *username, char *ret, size_t size);

#endif
