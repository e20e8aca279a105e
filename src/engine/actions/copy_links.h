/* copy_links.h: which copies share a link.
 *
 * A link is the network of a host in one direction: copies off one host share a link, and so do copies to one
 * host. */
#ifndef BALLAST_ENGINE_ACTIONS_COPY_LINKS_H
#define BALLAST_ENGINE_ACTIONS_COPY_LINKS_H

#include <stddef.h>

struct action;
struct actions;

/* Begins as {0}. */
struct copy_cursor {
    int end;
    size_t i;
};

/* The next copy of ours that shares a link with this move, itself left out, or NULL. One that is being asked
 * whether it may begin counts. */
struct action *copy_links_next(const struct actions *all, const struct action *x, struct copy_cursor *at);

#endif
