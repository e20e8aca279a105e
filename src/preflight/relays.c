/* relays.c: asks each Wake-on-LAN relay for its interfaces and routes, and judges the hosts that are woken
 * through it by them. It sends no packet. */
#include "preflight/internal.h"

#include "plugins/power_methods.h"

#include <errno.h>
#include <string.h>

#define MARGIN_S 5 /* beyond the relay's own time limit */
#define NAMES_LISTED_MAX 3

/* Hosts that one look at the relay settles: the same relay, key, address and interface. */
struct relay_check {
    const struct power_host *host; /* the first of them */
    size_t n_hosts;
    const char *names;        /* "esx1, esx2, ..." */
    struct relay_check *next; /* of the same relay: one after the other, not to be refused as too many */
    struct err err;
};

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool settles(const struct relay_check *c, const struct power_host *h)
{
    return same(c->host->wol.relay, h->wol.relay) && same(c->host->wol.relay_key, h->wol.relay_key) &&
           same(c->host->wol.broadcast, h->wol.broadcast) && same(c->host->wol.interface, h->wol.interface);
}

static void check_all(void *ctx)
{
    for (struct relay_check *c = ctx; c; c = c->next)
        (void)power_methods_check_relay(c->host, &c->err);
}

static bool is_woken_by_relay(const struct power_host *h)
{
    for (size_t i = 0; i < h->n_sequence; i++) {
        if (h->sequence[i] == POWER_WOL)
            return h->wol.mac && h->wol.relay;
    }
    return false;
}

static void add_host(struct relays_part *p, const struct power_host *h, struct arena *a)
{
    for (size_t i = 0; i < p->n_checks; i++) {
        struct relay_check *c = &p->checks[i];

        if (!settles(c, h))
            continue;
        if (c->n_hosts++ < NAMES_LISTED_MAX)
            c->names = arena_printf(a, "%s, %s", c->names, h->name);
        return;
    }
    p->checks[p->n_checks++] = (struct relay_check){.host = h, .n_hosts = 1, .names = h->name};
}

size_t preflight_relays_begin(const struct power_host *hosts, size_t n_hosts, struct arena *a,
                              struct relays_part *ret, struct preflight_task *tasks)
{
    size_t n_tasks = 0;

    *ret = (struct relays_part){.checks = arena_array(a, struct relay_check, n_hosts)};
    for (size_t i = 0; i < n_hosts; i++) {
        if (is_woken_by_relay(&hosts[i]))
            add_host(ret, &hosts[i], a);
    }
    for (size_t i = 0; i < ret->n_checks; i++) {
        struct relay_check *c = &ret->checks[i];
        size_t t = 0;

        while (t < n_tasks &&
               !same(((struct relay_check *)tasks[t].ctx)->host->wol.relay, c->host->wol.relay))
            t++;
        if (t == n_tasks) {
            tasks[n_tasks++] = (struct preflight_task){.run = check_all, .ctx = c};
        } else {
            struct relay_check *last = tasks[t].ctx;

            while (last->next)
                last = last->next;
            last->next = c;
        }
        tasks[t].most_s += c->host->timeout_s + MARGIN_S;
    }
    return n_tasks;
}

static void add_outcome(const struct relay_check *c, bool ended, struct preflight *ret)
{
    const char *relay = c->host->wol.relay;
    const char *of = arena_printf(ret->a, "%s%s", c->names, c->n_hosts > NAMES_LISTED_MAX ? ", ..." : "");

    if (!ended) {
        preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_PROBLEM, "relay %s of %s: no answer in time",
                      relay, of);
    } else if (c->err.code == 0) {
        preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_OK,
                      "relay %s: login accepted; its interfaces and routes fit the Wake-on-LAN of %s", relay,
                      of);
    } else if (c->err.code == -ENOTSUP) {
        preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_NOTE, "%s", c->err.text);
        preflight_advise(
            ret, "prove each host with `ballast wake HOST --verify`, and let it sleep for longer than the "
                 "relay's ARP entries live");
    } else if (c->err.code == -EINVAL || c->err.code == -ENETUNREACH) {
        preflight_add(ret, PREFLIGHT_CONTROLLERS, c->err.code == -EINVAL ? PREFLIGHT_PROBLEM : PREFLIGHT_NOTE,
                      "%s", c->err.text);
        preflight_advise(
            ret, "correct `wol.broadcast` or `wol.interface` of %s: with a relay they are the relay's", of);
    } else {
        preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_PROBLEM, "%s", c->err.text);
        preflight_advise(ret, "try `ssh %s true` as the user of the service: it must ask nothing", relay);
    }
}

/* The task that has made the check is among them. */
static bool task_ended(const struct relay_check *check, const struct preflight_task *tasks)
{
    for (;; tasks++) {
        for (const struct relay_check *c = tasks->run == check_all ? tasks->ctx : NULL; c; c = c->next) {
            if (c == check)
                return tasks->done;
        }
    }
}

void preflight_relays_end(const struct relays_part *p, const struct preflight_task *tasks,
                          struct preflight *ret)
{
    for (size_t i = 0; i < p->n_checks; i++)
        add_outcome(&p->checks[i], task_ended(&p->checks[i], tasks), ret);
}
