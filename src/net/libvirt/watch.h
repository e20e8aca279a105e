/* watch.h: hears from libvirt that something has changed on a host.
 *
 * Callbacks are registered on connections: VMs that start, stop, migrate, or are paused by an I/O error, jobs
 * that end, definitions and devices that change, and the end of the connection itself. What has changed is
 * not told: the listener asks the host.
 *
 * libvirt calls from its event loop's thread, which serves all hosts, so what is called must not block. A
 * registration holds its connection, and must be ended before the connection is closed. */
#ifndef BALLAST_NET_LIBVIRT_WATCH_H
#define BALLAST_NET_LIBVIRT_WATCH_H

#include <libvirt/libvirt.h>
#include <stdbool.h>

#define LIBVIRT_WATCHES_MAX 8

/* The listener. Lives until it is released, and all registrations have ended. */
struct libvirt_watch;

/* The callbacks on one connection; all zero: none. */
struct libvirt_watched {
    int ids[LIBVIRT_WATCHES_MAX]; /* libvirt's */
    unsigned n;
    bool close;
};

struct libvirt_watch *libvirt_watch_new(void);
void libvirt_watch_release(struct libvirt_watch *w);

/* From now on changed(ctx) is called; NULL: nothing any more, and no call is under way when this returns. */
void libvirt_watch_set(struct libvirt_watch *w, void (*changed)(void *ctx), void *ctx);

/* Asks the host, so it blocks until the host has answered. Without a listener nothing is registered. A host
 * that knows some kinds of events only tells those. */
void libvirt_watch_begin(struct libvirt_watch *w, virConnectPtr conn, struct libvirt_watched *ret);
/* The same, unless the connection is dead: then it is quick. */
void libvirt_watch_end(virConnectPtr conn, struct libvirt_watched *watched);

#endif
