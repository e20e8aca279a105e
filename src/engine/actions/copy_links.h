/* copy_links.h: which copies share a link, and how many may.
 *
 * A link is the network of a host in one direction: copies off one host share a link, and so do copies to one
 * host. What copies share makes each slower, and a VM writes as much as before: what is copied again grows,
 * without bound where the VM writes as fast as its part of the link copies. So a copy begins beside others
 *   where the link gives each its full rate, as earlier copies have shown; or
 *   where one of each two will be over soon, and neither VM writes more than half of its part; or
 *   where each VM writes little of its part.
 * Else it waits for the others. What is written is known from the source, from earlier copies, or from the
 * rounds of a copy that goes on. A VM about which nothing is known may write a lot, unless both copies will
 * be over soon: then it counts as those that left its host before.
 *
 * The rate of a copy, and what the copies of a link have together, are learned from their bytes while they go
 * on. After a copy that had no end, or sent twice a VM's memory, half as many use its hosts at a time, and
 * one more after each that ends well. */
#ifndef BALLAST_ENGINE_ACTIONS_COPY_LINKS_H
#define BALLAST_ENGINE_ACTIONS_COPY_LINKS_H

#include <ballast/units.h>

#include <stdbool.h>
#include <stddef.h>

struct action;
struct actions;
struct engine;

/* Begins as {0}. */
struct copy_cursor {
    int end;
    size_t i;
};

/* The next copy of ours that shares a link with this move, itself left out, or NULL. One that is being asked
 * whether it may begin counts. */
struct action *copy_links_next(const struct actions *all, const struct action *x, struct copy_cursor *at);

/* Whether the move may begin beside the copies that go on. False with the reason, of at most WHY_MAX bytes.
 */
bool copy_links_admit(const struct engine *e, const struct action *x, char *why);
/* Whether a copy of this VM had no end at the rate that it would have again, even with its links to itself.
 */
bool copy_links_had_no_end(const struct engine *e, const struct action *x);
/* It begins: its estimated duration counts the others on its links. */
void copy_links_begin(const struct engine *e, struct action *x);
/* Its hypervisor has said how far it is. */
void copy_links_learn(struct engine *e, struct action *x, instant_s now);
/* It has ended, well or because it had no end. */
void copy_links_end(struct engine *e, const struct action *x, instant_s now);

#endif
