/* network.h: whether a magic packet can leave this machine as it is configured, and reach a host that sleeps.
 *
 * A host that sleeps answers no ARP, so only a broadcast reaches it: a packet to an address of its own
 * arrives while the ARP entry of the sender lives, for minutes, so that a short proof passes and the morning
 * fails. */
#ifndef BALLAST_ACTUATORS_WOL_NETWORK_H
#define BALLAST_ACTUATORS_WOL_NETWORK_H

#include <ballast/power.h>

#include <netinet/in.h>
#include <stddef.h>

/* An address of an interface; an interface without one has one entry with address 0. */
struct wol_interface {
    const char *name;
    unsigned flags; /* IFF_*, see netdevice(7) */
    bool is_ethernet;
    struct in_addr address, mask, broadcast;
};

/* The broadcast and the interface of a host that is woken without a relay, by the interfaces of this machine.
 * leaves_from: the source address of a packet to the broadcast address by the routes of this machine; 0: no
 * route. -EINVAL: it cannot arrive; -ENETUNREACH: only if a router passes it on, which few do; else 0. */
int wol_judge(const struct power_host *host, const struct wol_interface *list, size_t n,
              struct in_addr leaves_from, struct err *err);

/* The same with the interfaces and routes that there are now. A host with a relay, or without Wake-on-LAN, is
 * not judged: 0. */
int wol_check_network(const struct power_host *host, struct err *err);

#endif
