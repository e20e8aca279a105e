/* network.c: judges a Wake-on-LAN configuration by the interfaces and routes of this machine. It sends
 * nothing: a UDP socket that is connected shows the route. */
#include "actuators/wol/network.h"

#include "base/broadcast.h"
#include "base/cleanup.h"
#include "base/xalloc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netpacket/packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVERYBODY "255.255.255.255" /* on the network that the default route leads to */

struct wol_view *wol_view_new(const char *machine)
{
    struct wol_view *v = xcalloc(1, sizeof *v);

    v->machine = machine;
    return v;
}

void wol_view_freep(struct wol_view **v)
{
    free(*v);
}

static int destination(const struct power_host *host, struct broadcast *ret, struct err *err)
{
    const char *text = host->wol.broadcast ? host->wol.broadcast : EVERYBODY;
    int r = broadcast_parse(text, ret);

    if (r == -EDOM)
        return err_set(err, -EINVAL, "broadcast %s is not the broadcast address of its network of %u bits",
                       text, ret->prefix);
    return r < 0 ? err_set(err, -EINVAL, "broadcast %s is not an IPv4 address", text) : 0;
}

int wol_address(const struct power_host *host, char ret[INET_ADDRSTRLEN], struct err *err)
{
    struct broadcast to;
    int r = destination(host, &to, err);

    if (r == 0)
        (void)inet_ntop(AF_INET, &to.address, ret, INET_ADDRSTRLEN);
    return r;
}

static const struct wol_interface *find_name(const struct wol_view *view, const char *name)
{
    for (size_t i = 0; i < view->n; i++) {
        if (strcmp(view->list[i].name, name) == 0)
            return &view->list[i];
    }
    return NULL;
}

/* Both kinds of packets are broadcasts of an Ethernet. */
static int judge_interface(const struct wol_view *view, const char *name, struct err *err)
{
    const struct wol_interface *i = find_name(view, name);

    if (!i)
        return err_set(err, -EINVAL, "%s has no interface %s", view->machine, name);
    if (i->flags & IFF_LOOPBACK || !i->is_ethernet || !(i->flags & IFF_BROADCAST))
        return err_set(err, -EINVAL, "interface %s cannot carry a magic packet: it is no Ethernet", name);
    if (!(i->flags & IFF_UP))
        return err_set(err, -EINVAL, "interface %s is down", name);
    return 0;
}

static bool is_in(const struct wol_interface *i, struct in_addr a)
{
    return i->address.s_addr != 0 && i->mask.s_addr != 0 &&
           (i->address.s_addr & i->mask.s_addr) == (a.s_addr & i->mask.s_addr);
}

static int judge_broadcast(const struct power_host *host, const struct wol_view *view,
                           const struct broadcast *declared, struct err *err)
{
    const struct wol_interface *list = view->list;
    const struct in_addr to = declared->address;
    const struct in_addr leaves_from = view->leaves_from;
    const struct wol_interface *of = NULL;
    const struct wol_interface *leaves = NULL;
    char word[INET_ADDRSTRLEN] = "";
    char right[INET_ADDRSTRLEN] = "";

    (void)inet_ntop(AF_INET, &to, word, sizeof word);
    for (size_t i = 0; i < view->n; i++) {
        if (leaves_from.s_addr != 0 && list[i].address.s_addr == leaves_from.s_addr)
            leaves = &list[i];
        if (is_in(&list[i], to) && (!of || of->broadcast.s_addr != to.s_addr))
            of = &list[i];
    }
    if (of && of->flags & IFF_LOOPBACK)
        return err_set(err, -EINVAL, "broadcast %s is an address of %s itself", word, view->machine);
    if (of && (!(of->flags & IFF_BROADCAST) || of->broadcast.s_addr != to.s_addr)) {
        (void)inet_ntop(AF_INET, &of->broadcast, right, sizeof right);
        return err_set(
            err, -EINVAL,
            "broadcast %s is no broadcast address: that of interface %s is %s. A packet to a host's own "
            "address wakes it only for minutes after it was seen on",
            word, of->name, right);
    }
    if (leaves_from.s_addr == 0)
        return err_set(err, -EINVAL, "%s has no route to %s", view->machine, word);
    if (host->wol.interface && leaves && strcmp(leaves->name, host->wol.interface) != 0)
        return err_set(err, -EINVAL, "packets to %s leave by interface %s, and the host is said to be at %s",
                       word, leaves->name, host->wol.interface);
    if (of && leaves && !is_in(leaves, to))
        return err_set(err, -EINVAL, "packets to %s leave by interface %s, and %s has that network", word,
                       leaves->name, of->name);
    if (!of && to.s_addr != htonl(INADDR_BROADCAST) && declared->prefix == 0)
        return err_set(
            err, -ENETUNREACH,
            "broadcast %s belongs to no network of %s: it arrives only if a router passes on broadcasts to "
            "that "
            "network, which few do. A relay there is surer; if the router does, say so with the network's "
            "prefix: %s/24",
            word, view->machine, word);
    return 0;
}

int wol_judge(const struct power_host *host, const struct wol_view *view, struct err *err)
{
    struct broadcast to;
    int r = host->wol.interface ? judge_interface(view, host->wol.interface, err) : 0;

    if (r == 0 && host->wol.interface && !host->wol.broadcast)
        return 0; /* frames only */
    if (r == 0)
        r = destination(host, &to, err);
    return r < 0 ? r : judge_broadcast(host, view, &to, err);
}

static struct in_addr source_of(struct in_addr broadcast)
{
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = broadcast};
    struct sockaddr_in from = {0};
    socklen_t len = sizeof from;
    const int on = 1;

    CLEANUP(closep) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) < 0 ||
        connect(fd, (const struct sockaddr *)&to, sizeof to) < 0 ||
        getsockname(fd, (struct sockaddr *)&from, &len) < 0)
        return (struct in_addr){0};
    return from.sin_addr;
}

static struct in_addr ipv4(const struct sockaddr *a)
{
    struct sockaddr_in in = {0};

    if (a && a->sa_family == AF_INET)
        memcpy(&in, a, sizeof in);
    return in.sin_addr;
}

static bool is_ethernet(const struct ifaddrs *all, const char *name)
{
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        struct sockaddr_ll link;

        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_PACKET || strcmp(i->ifa_name, name) != 0)
            continue;
        memcpy(&link, i->ifa_addr, sizeof link);
        return link.sll_hatype == ARPHRD_ETHER;
    }
    return false;
}

int wol_check_network(const struct power_host *host, struct err *err)
{
    struct ifaddrs *all = NULL;
    struct broadcast to;
    CLEANUP(wol_view_freep) struct wol_view *view = wol_view_new("this machine");

    if (!host->wol.mac || host->wol.relay || getifaddrs(&all) < 0)
        return 0;
    for (const struct ifaddrs *i = all; i && view->n < WOL_INTERFACES_MAX; i = i->ifa_next) {
        if (!i->ifa_addr || (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_PACKET))
            continue;
        view->list[view->n++] = (struct wol_interface){
            .name = i->ifa_name,
            .flags = i->ifa_flags,
            .is_ethernet = is_ethernet(all, i->ifa_name),
            .address = ipv4(i->ifa_addr),
            .mask = ipv4(i->ifa_netmask),
            .broadcast = i->ifa_flags & IFF_BROADCAST ? ipv4(i->ifa_broadaddr) : (struct in_addr){0},
        };
    }
    int r = destination(host, &to, err);

    if (r == 0) {
        view->leaves_from = source_of(to.address);
        r = wol_judge(host, view, err);
    }

    freeifaddrs(all);
    return r < 0 ? err_widen(err, "host %s: Wake-on-LAN", host->name) : 0;
}
