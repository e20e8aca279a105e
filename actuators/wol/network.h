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

#define WOL_INTERFACES_MAX 512

/* The machine that sends the packet. */
struct wol_view {
    const char *machine; /* for sentences: "this machine", "the relay" */
    struct in_addr
        leaves_from; /* the source address of a packet to the broadcast address, by its routes; 0: no route */
    struct wol_interface list[WOL_INTERFACES_MAX];
    size_t n;
};

struct wol_view *wol_view_new(const char *machine);
void wol_view_freep(struct wol_view **v); /* for CLEANUP() */

/* Where the host's UDP packets go, as text. -EINVAL. */
int wol_address(const struct power_host *host, char ret[INET_ADDRSTRLEN], struct err *err);

/* The broadcast and the interface of a host, by the interfaces and routes of the machine that sends. -EINVAL:
 * the packet cannot arrive; -ENETUNREACH: only if a router passes it on, which few do, and the configuration
 * does not declare the network; else 0. */
int wol_judge(const struct power_host *host, const struct wol_view *view, struct err *err);

/* The same with the interfaces and routes that there are now. A host with a relay, or without Wake-on-LAN, is
 * not judged: 0. */
int wol_check_network(const struct power_host *host, struct err *err);

#endif
