/* collector.h: the contract of a plug-in that reads a cluster.
 *
 * A collector is created without touching the network, and then asked for inventories, one at a time, on a
 * thread of its own. It may block, but not past its deadline. It logs in by itself, and again when its
 * session has expired or the peer was away: after a failed collect() the next call simply tries again. It
 * never guesses: a host that did not answer is HOST_DISCONNECTED, a VM with missing figures has
 * demand_unknown.
 *
 * A collector that hears of changes, such as a VM that was started by a person, may say so with
 * cfg->changed() (source.h), and is asked for an inventory soon. One that does not is asked every minute.
 *
 * Peers are not trusted. Their answers are bounded (size, depth, count) and checked; an invalid answer is
 * an error whose sentence names the peer and the fault, and a failed collect() leaves no result.
 */
#ifndef BALLAST_COLLECTOR_H
#define BALLAST_COLLECTOR_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/inventory.h>
#include <ballast/preflight.h>
#include <ballast/source.h>

struct collector; /* each plugin defines its own */

struct collector_ops {
    const char *kind; /* the word after `source: kind:` */

    /* Checks the configuration only. cfg stays valid until destroy(). */
    int (*create)(const struct source_config *cfg, struct collector **ret, struct err *err);

    /* Fills *ret with everything that is visible now; strings and arrays go into a. Returns within
     * cfg->timeout_s, or soon after *cfg->stop became true. -ETIMEDOUT, -ECONNREFUSED, -EACCES
     * (credentials), -EPROTO (an invalid answer), ... */
    int (*collect)(struct collector *c, struct arena *a, struct inventory *ret, struct err *err);

    /* Adds what an admin should know before the service starts: the peer, the login, the cluster, missing
     * privileges, each with what to do. Called after one collect(), which gave 0 and *inv, or failed (inv
     * NULL, *err says why). operations: 1u << OPERATION_* (actuator.h) that the service will carry out by
     * itself; what an admin may ask for beyond them is worth a note. Changes nothing at the peer, sends no
     * refused password again, and returns within cfg->timeout_s. NULL: the source is not asked at all. */
    void (*preflight)(struct collector *c, const struct inventory *inv, const struct err *err,
                      unsigned operations, struct preflight *ret);

    /* Logs out if that is quick, and frees. NULL is fine. */
    void (*destroy)(struct collector *c);
};

#endif
