/* host_losses.c: follows hosts that are gone until they are back, and counts how often their VMs stopped. */
#include "engine/knowledge/host_losses.h"

#include "base/instant.h"
#include "base/xalloc.h"
#include "engine/knowledge/avoid_entries.h"
#include "engine/knowledge/hosts.h"
#include "engine/retry.h"

#include <stdlib.h>
#include <string.h>

#define DISTRUST_S 3600
#define DISTRUST_MAX_S (7 * 86400)
#define COUNTS_S 86400 /* a loss counts with those before it, after trust for so long at most */
#define AT_ONCE_S 120  /* hosts that go within so long, or within two looks, go together */

/* In the place of a VM and a host. No VM and no host has such an id. */
static const char of_host[] = "\nlost host ";
static const char of_losses[] = "\nlosses";

/* A host that is gone. */
struct outage {
    instant_s since;
    bool not_alone; /* another host went, too */
    bool counted;
    char **vms; /* ids: they ran there */
    size_t n;
};

struct host_outages {
    struct idmap of;
};

bool host_losses_are(const struct failure_record *r)
{
    return strcmp(r->host, of_losses) == 0;
}

bool host_losses_count(const struct failure_record *r, instant_s now)
{
    return (r->until > r->failed ? r->until : r->failed) > now - COUNTS_S;
}

static struct avoid_entry *find_losses(struct failed_moves *f, const char *host, bool make)
{
    size_t size = sizeof of_host + strlen(host);
    char *key = xcalloc(size, 1);

    memcpy(key, of_host, sizeof of_host - 1);
    memcpy(key + sizeof of_host - 1, host, strlen(host));
    struct avoid_entry *x = make ? avoid_entry_make(f, key, of_losses) : avoid_entry_find(f, key, of_losses);

    free(key);
    return x;
}

bool host_losses_forgive(struct failed_moves *f, const char *host, instant_s now)
{
    struct avoid_entry *x = find_losses(f, host, false);
    bool counts = x && host_losses_count(&x->r, now);

    avoid_entry_drop(f, x);
    return counts;
}

/* From now on, or from when the host is back. */
static void distrust(struct avoid_entry *x, instant_s now)
{
    if (x->r.failures > 1)
        x->r.until = now + retry_doubled_s(DISTRUST_S, DISTRUST_MAX_S, x->r.failures - 1);
}

/* ---- what an inventory shows ----------------------------------------------------------------- */

static bool is_gone(const struct snapshot *s, const char *host)
{
    uint32_t ix = snapshot_find_host(s, host);

    return ix == IX_NONE || s->hosts[ix].is.left_inventory || s->hosts[ix].is.state == HOST_DISCONNECTED;
}

/* Whether the VM runs on another host. */
static bool runs_elsewhere(const struct snapshot *s, const struct vm *v, const char *host)
{
    return v->is.state == VM_ON && v->host != IX_NONE && strcmp(s->hosts[v->host].is.id, host) != 0;
}

/* VMs that already run elsewhere when the host is seen to be gone have been moved. */
static void begin_outage(struct host_outages *o, const struct snapshot *before, uint32_t host,
                         const struct snapshot *s)
{
    const struct host *h = &before->hosts[host];
    struct outage *x = idmap_make(&o->of, h->is.id, sizeof *x);

    *x = (struct outage){.since = s->time, .vms = xcalloc(h->vms.n + 1, sizeof *x->vms)};
    for (uint32_t i = 0; i < h->vms.n; i++) {
        const char *vm = before->vms[h->vms.items[i]].is.id;
        uint32_t ix = snapshot_find_vm(s, vm);

        if (ix == IX_NONE || !runs_elsewhere(s, &s->vms[ix], h->is.id))
            x->vms[x->n++] = xstrdup(vm);
    }
}

static void free_outage(void *value)
{
    struct outage *x = value;

    for (size_t i = 0; i < x->n; i++)
        free(x->vms[i]);
    free(x->vms);
    free(x);
}

/* Seen within a look of when it went: what ran on it before has stopped, also what runs there again. */
static bool has_booted(const struct outage *x, const char *host, const struct knowledge_context *c)
{
    const struct inventory *inv = c->inventory;

    for (size_t i = 0; i < inv->n_hosts && x->n > 0; i++)
        if (strcmp(inv->hosts[i].is.id, host) == 0)
            return inv->hosts[i].booted > x->since - c->look_period_s;
    return false;
}

static bool have_stopped(const struct outage *x, const char *host, const struct snapshot *s,
                         const struct knowledge_context *c)
{
    size_t stopped = 0;

    if (has_booted(x, host, c))
        return true;
    for (size_t i = 0; i < x->n; i++) {
        uint32_t ix = snapshot_find_vm(s, x->vms[i]);

        stopped += ix != IX_NONE && (s->vms[ix].is.state == VM_OFF || runs_elsewhere(s, &s->vms[ix], host));
    }
    return 2 * stopped > x->n;
}

/* A loss is counted some time later: until then others may be seen to have gone with the host. */
static void follow_outage(struct outage *x, const char *host, const struct snapshot *s, instant_s at_once_s,
                          const struct knowledge_context *c)
{
    struct failed_moves *f = c->known->failed_moves;
    bool seen_alone = !x->not_alone && (!is_gone(s, host) || x->since <= s->time - at_once_s / 2);

    if (!x->counted && seen_alone && have_stopped(x, host, s, c)) {
        struct avoid_entry *losses = find_losses(f, host, true);

        losses->r.failures = host_losses_count(&losses->r, x->since) ? losses->r.failures + 1 : 1;
        losses->r.failed = x->since;
        distrust(losses, s->time);
        x->counted = true;
    }
    struct avoid_entry *losses = is_gone(s, host) || x->not_alone ? NULL : find_losses(f, host, false);

    if (losses && losses->r.until > x->since) { /* it has not been up as long as it had to */
        distrust(losses, s->time);
        knowledge_touch(&f->entries, &losses->known);
    }
}

static bool is_still_gone(const char *host, void *value, void *snapshot)
{
    const struct outage *x = value;
    const struct snapshot *s = snapshot;

    if (is_gone(s, host) && x->since > s->time - COUNTS_S)
        return true;
    free_outage(value);
    return false;
}

#define EACH_OUTAGE(o, i, x)                                                                                 \
    size_t i = 0;                                                                                            \
    i < (o)->of.cap;                                                                                         \
    i++)                                                                                                     \
        for (struct outage *x = (o)->of.entries[i].value; x; x = NULL

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct host_outages *o = piece;
    struct failed_moves *f = c->known->failed_moves;
    const instant_s at_once_s = instant_later(AT_ONCE_S, 2 * c->look_period_s);
    size_t recent = 0;

    (void)a;
    for (uint32_t i = 0; c->before && i < c->before->n_hosts; i++) {
        const struct host_facts *was = &c->before->hosts[i].is;

        if (hosts_is_up(was->state) && is_gone(s, was->id) && !idmap_get(&o->of, was->id))
            begin_outage(o, c->before, i, s);
    }
    for (EACH_OUTAGE(o, i, x))
        recent += x->since > s->time - at_once_s;
    for (EACH_OUTAGE(o, i, x))
        x->not_alone |= recent > 1 && x->since > s->time - at_once_s;
    for (EACH_OUTAGE(o, i, x))
        follow_outage(x, o->of.entries[i].key, s, at_once_s, c);
    idmap_keep(&o->of, is_still_gone, s);
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct avoid_entry *x = find_losses(f, s->hosts[i].is.id, false);

        if (x && host_losses_count(&x->r, s->time))
            s->hosts[i].is.losses = (struct host_losses){x->r.failures, x->r.failed, x->r.until};
    }
}

static void release(void *piece)
{
    struct host_outages *o = piece;

    idmap_release(&o->of, free_outage);
    free(o);
}

const struct knowledge_ops host_losses_ops = {
    .size = sizeof(struct host_outages),
    .release = release,
    .observe = observe,
};
