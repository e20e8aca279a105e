/* preflight.h: looks at everything that a configuration names, before the service starts with it.
 *
 * The source, its cluster and the user's privileges; the configuration's entries against the cluster; the
 * hosts' controllers; the MQTT broker; this machine. All peers are asked side by side, each once: the whole
 * takes about as long as the slowest of them. Nothing is changed, no lock is taken, and a password that a
 * peer has refused is not sent to it again, so it can run beside a running service.
 */
#ifndef BALLAST_PREFLIGHT_RUN_H
#define BALLAST_PREFLIGHT_RUN_H

#include "config/config.h"

#include <ballast/preflight.h>

/* An account whose password a running service has had refused, and when that service tries it again: as in
 * the reply to `status`. No further try is made with it here. */
struct preflight_pause {
    const char *account, *next_try;
};

/* ret->a is set by the caller. *ret_abandoned: a peer has not answered, and a thread still waits for it: the
 * caller ends with _exit(), and frees nothing. -EAGAIN: nothing was looked at. */
int preflight_run(const struct config *c, const struct preflight_pause *pauses, size_t n_pauses,
                  struct preflight *ret, bool *ret_abandoned, struct err *err);

/* What of Wake-on-LAN cannot work by the interfaces and routes of this machine: a sentence for each host, in
 * the arena. Hosts with a relay are left out. Asks no peer. */
size_t preflight_packets(const struct config *c, struct arena *a, struct err **ret);

#endif
