/* relay_network.h: whether a magic packet can leave the relay as it is configured, and reach a host that
 * sleeps: network.h, with the interfaces and routes of the relay. */
#ifndef BALLAST_ACTUATORS_WOL_RELAY_NETWORK_H
#define BALLAST_ACTUATORS_WOL_RELAY_NETWORK_H

#include <ballast/power.h>

#include <stddef.h>

/* The same by the text that the relay's `ip -json` has printed, which is not trusted. -EINVAL and
 * -ENETUNREACH as wol_judge(); -ENOTSUP: the text says nothing of interfaces. */
int wol_judge_by_text(const struct power_host *host, const char *text, size_t len, struct err *err);

/* Asks the relay by ssh, for at most timeout_s. 0: it can, or the host has no relay; other errors than those
 * above: the relay was not reached. */
int wol_check_relay(const struct power_host *host, struct err *err);

#endif
