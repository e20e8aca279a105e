/* connections.h: connections to the libvirt of each host, for all threads of a source.
 *
 * libvirt has no timeout for connecting: a host that is cut off keeps its caller for minutes. So each
 * connection is opened by a thread of its own, at most one at a time for a host, and callers wait no longer
 * than they like. A thread that is stuck holds the object; it ends when the system gives up. An open
 * connection is kept for the next who needs one, and is closed by libvirt's keepalive within KEEPALIVE_S *
 * KEEPALIVE_COUNT seconds when its host falls silent: calls under way fail then.
 *
 * Connections are made without asking anybody anything: passwords come from the configuration, ssh runs
 * without a terminal. A refused password is not tried again for a minute, then two, four, up to fifteen.
 */
#ifndef BALLAST_NET_LIBVIRT_CONNECTIONS_H
#define BALLAST_NET_LIBVIRT_CONNECTIONS_H

#include <ballast/err.h>

#include <libvirt/libvirt.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LIBVIRT_KEEPALIVE_S 5
#define LIBVIRT_KEEPALIVE_COUNT 3

struct libvirt_host {
    const char *name, *uri;
};

struct libvirt_connections;

struct peer_identities;

/* identities: the hosts are compared with what they were, by name, when a connection is opened: -EKEYREJECTED
 * of those below; it outlives libvirt_connections_close(). NULL: they are not. Copies all else. username,
 * password: for hosts that ask (SASL); NULL: none. Nothing is opened. */
struct libvirt_connections *libvirt_connections_new(const struct libvirt_host *hosts, size_t n,
                                                    const char *username, const char *password,
                                                    struct peer_identities *identities);

/* Another holder; the object lives until all have released it. NULL is fine. */
struct libvirt_connections *libvirt_connections_hold(struct libvirt_connections *c);
void libvirt_connections_release(struct libvirt_connections *c);

/* Releases it for good: no holder connects from here on, and no ssh of an attempt is left behind. */
void libvirt_connections_close(struct libvirt_connections *c);

/* A connection to the host, which the caller has alone until libvirt_connections_put(); a new one, where
 * others have all that are open. Waits until the deadline (net_now_ms()) or until *stop (NULL: never).
 * -ETIMEDOUT: no connection by then; -ECANCELED; -EACCES: the host refuses the login or the keys, or is not
 * the one it should be; others as libvirt_connections_fail() gives them.
 *
 * Two threads never share a connection: libvirt's client before 10.4 may read freed memory when a connection
 * ends while several threads wait for answers on it (CVE-2024-4418). */
int libvirt_connections_get(struct libvirt_connections *c, size_t host, int64_t deadline_ms,
                            const atomic_bool *stop, virConnectPtr *ret, struct err *err);

/* Gives it back. All that the caller had of it (domains, networks) is freed before. */
void libvirt_connections_put(struct libvirt_connections *c, size_t host, virConnectPtr conn);

/* A connection of the caller's own, for a call that lasts: libvirtd executes few calls of a client at a time.
 * Blocks as long as the host does. Errors as above. */
int libvirt_connections_open(struct libvirt_connections *c, size_t host, virConnectPtr *ret, struct err *err);

/* From now on changed(ctx) is called when a connection of libvirt_connections_get() tells that something has
 * changed on its host, or ends (watch.h); by libvirt's own thread, so it must not block. To be set before the
 * first connection is opened. NULL: no more, and no call is under way when this returns. */
void libvirt_connections_watch(struct libvirt_connections *c, void (*changed)(void *ctx), void *ctx);

/* Sets the error from what libvirt said last on this thread: -EACCES (login, keys, certificates), -EPERM,
 * -ENOTSUP, -ENOENT (no such object), -ECONNRESET (the connection is gone), -EREMOTEIO. */
int libvirt_connections_fail(struct err *err, const char *host);

#endif
