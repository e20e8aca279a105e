/* relay_network.c: reads what `ip -json` says at the relay, and judges the configuration by it. */
#include "actuators/wol/relay_network.h"

#include "actuators/wol/network.h"
#include "actuators/wol/relay.h"
#include "base/broadcast.h"
#include "base/cleanup.h"
#include "net/http.h"
#include "net/peer_json.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_DEFAULT_S 30u

static struct in_addr address_of(const char *text)
{
    struct in_addr a = {0};

    if (text && inet_pton(AF_INET, text, &a) != 1)
        a.s_addr = 0;
    return a;
}

static unsigned flags_of(const json_t *link)
{
    static const struct {
        const char *word;
        unsigned flag;
    } known[] = {{"UP", IFF_UP}, {"BROADCAST", IFF_BROADCAST}, {"LOOPBACK", IFF_LOOPBACK}};
    const json_t *list = json_object_get(link, "flags");
    unsigned flags = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));

        for (size_t k = 0; word && k < sizeof known / sizeof known[0]; k++)
            flags |= strcmp(word, known[k].word) == 0 ? known[k].flag : 0;
    }
    return flags;
}

static void add_addresses(const json_t *link, const struct wol_interface *of, struct wol_view *view)
{
    const json_t *list = json_object_get(link, "addr_info");

    for (size_t i = 0; i < json_array_size(list) && view->n < WOL_INTERFACES_MAX; i++) {
        const json_t *a = json_array_get(list, i);
        const json_int_t bits = json_integer_value(json_object_get(a, "prefixlen"));
        const char *family = peer_json_text(a, "family");
        struct wol_interface *to = &view->list[view->n];

        if (!family || strcmp(family, "inet") != 0 || bits < 1 || bits > 32)
            continue;
        *to = *of;
        to->address = address_of(peer_json_text(a, "local"));
        to->mask.s_addr = htonl(UINT32_MAX << (32 - (unsigned)bits));
        to->broadcast = address_of(peer_json_text(a, "broadcast"));
        view->n++;
    }
}

/* One entry without an address for each interface, and one for each address. */
static void read_links(const json_t *links, struct wol_view *view)
{
    for (size_t i = 0; i < json_array_size(links) && view->n < WOL_INTERFACES_MAX; i++) {
        const json_t *link = json_array_get(links, i);
        const char *name = peer_json_text(link, "ifname");
        const char *type = peer_json_text(link, "link_type");

        if (!name)
            continue;
        const struct wol_interface bare = {
            .name = name, .flags = flags_of(link), .is_ethernet = type && strcmp(type, "ether") == 0};

        view->list[view->n++] = bare;
        add_addresses(link, &bare, view);
    }
}

int wol_judge_by_text(const struct power_host *host, const char *text, size_t len, struct err *err)
{
    const char *end = memchr(text, '\n', len);
    const size_t first = end ? (size_t)(end - text) : len;
    CLEANUP(json_decrefp) json_t *links = json_loadb(text, first, 0, NULL);
    CLEANUP(json_decrefp) json_t *routes = end ? json_loadb(end + 1, len - first - 1, 0, NULL) : NULL;
    CLEANUP(wol_view_freep) struct wol_view *view = wol_view_new("the relay");

    read_links(links, view);
    if (view->n == 0)
        return err_set(
            err, -ENOTSUP,
            "the relay does not tell its interfaces (`ip -json address`), so it cannot be said whether "
            "a packet leaves there");
    view->leaves_from = address_of(peer_json_text(json_array_get(routes, 0), "prefsrc"));
    return wol_judge(host, view, err);
}

int wol_check_relay(const struct power_host *host, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf said = {0};
    struct remote_address relay;
    char address[INET_ADDRSTRLEN];

    if (!host->wol.mac || !host->wol.relay)
        return 0;
    int r = remote_address_parse(host->wol.relay, &relay);

    if (r < 0)
        (void)err_set(err, r, "relay is not USER@HOST or USER@HOST:PORT");
    if (r == 0)
        r = wol_address(host, address, err);
    if (r == 0) {
        const struct relay_errand errand = {
            .relay = &relay,
            .key_file = host->wol.relay_key,
            .address = address,
            .deadline_ms =
                net_now_ms() + 1000 * (int64_t)(host->timeout_s ? host->timeout_s : TIMEOUT_DEFAULT_S),
            .stop = host->stop};

        r = relay_look(&errand, &said, err);
    }
    if (r == 0)
        r = wol_judge_by_text(host, said.text ? said.text : "", said.len, err);
    return r < 0 ? err_widen(err, "host %s: Wake-on-LAN through %s", host->name, host->wol.relay) : 0;
}
