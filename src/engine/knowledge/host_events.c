/* host_events.c: what an inventory shows of hosts that the one before did not, as events. */
#include "engine/knowledge/host_events.h"

#include "engine/events.h"

#include <stdio.h>

/* The host's state when it was last seen, also by an earlier process as far as the store has it. */
static enum host_state was(const struct known_host *k)
{
    if (k->state != host_state_count)
        return k->state;
    if (k->r.standby_since != 0 || k->r.put_down != 0)
        return HOST_STANDBY;
    return k->r.on_since != 0 ? HOST_ON : host_state_count;
}

/* names: the snapshot that has the host. */
static void tell(struct engine *e, enum event_kind kind, const struct snapshot *names, instant_s now,
                 const struct host_facts *f, enum host_state before, enum host_state is, const char *text)
{
    events_publish(e, &(struct event){.kind = kind,
                                      .time = now,
                                      .host = f->id,
                                      .was = before,
                                      .is = is,
                                      .snapshot = names,
                                      .text = text});
}

void host_events_change(struct engine *e, const struct snapshot *s, const struct host_facts *f,
                        const struct known_host *k)
{
    const enum host_state before = was(k);
    char text[256];

    if (before == f->state || before == host_state_count ||
        (k->state == host_state_count && before != HOST_STANDBY && f->state != HOST_STANDBY))
        return;
    (void)snprintf(text, sizeof text, "host %.100s was %s and is %s", f->name, host_state_name(before),
                   host_state_name(f->state));
    tell(e, EVENT_HOST, s, s->time, f, before, f->state, text);
}

/* By the source, and not only remembered. */
static bool is_listed(const struct snapshot *s, const char *host)
{
    uint32_t ix = snapshot_find_host(s, host);

    return ix != IX_NONE && !s->hosts[ix].is.left_inventory;
}

void host_events_lost(struct engine *e, const struct hosts *h, const struct snapshot *before,
                      const struct snapshot *s)
{
    char text[256];

    for (uint32_t i = 0; i < before->n_hosts; i++) {
        const struct host_facts *f = &before->hosts[i].is;
        const struct known_host *k = hosts_find(h, f->id);

        if (f->left_inventory || is_listed(s, f->id))
            continue;
        (void)snprintf(text, sizeof text, "host %.100s, which was %s, is not in the inventory any more%s%s",
                       f->name, host_state_name(f->state),
                       k && k->r.put_down != 0 ? "; Ballast has put it to standby" : "",
                       f->state == HOST_STANDBY ? "; it can still be woken by its name" : "");
        tell(e, EVENT_HOST_LOST, before, s->time, f, f->state, host_state_count, text);
    }
}

void host_events_arrival(struct engine *e, const struct snapshot *before, const struct snapshot *s,
                         const struct host_facts *f, const struct known_host *k)
{
    const bool is_new = k->state == host_state_count && k->r.seen == 0;
    char text[256];

    if (is_listed(before, f->id))
        return;
    (void)snprintf(text, sizeof text, "host %.100s is %s and is %s", f->name,
                   is_new ? "new" : "in the inventory again", host_state_name(f->state));
    tell(e, is_new ? EVENT_HOST : EVENT_HOST_BACK, s, s->time, f, was(k), f->state, text);
}
