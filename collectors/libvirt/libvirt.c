/* libvirt.c: the collector of plain KVM hosts: asks all of them side by side, waits for none longer than it
 * may, and remembers what those that do not answer said last. */
#include "collectors/libvirt/libvirt_settings.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/texts.h"
#include "base/xalloc.h"
#include "collectors/libvirt/inventory.h"
#include "collectors/libvirt/preflight.h"
#include "collectors/libvirt/workers.h"
#include "net/http.h"
#include "net/libvirt/migration_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMEOUT_DEFAULT_S 60
#define WAIT_AGAIN_MS 1000 /* for a host that did not answer the last time */

struct host_memory {
    struct host_look *look;      /* the last good one */
    struct host_look *before;    /* the good one before it */
    bool tried, answered;        /* the last time */
    struct err err;              /* why it did not */
    char uuid[LIBVIRT_UUID_MAX]; /* the first one */
};

struct collector {
    const struct source_config *cfg;
    const struct libvirt_settings *settings;
    const struct libvirt_host_settings *hosts;
    size_t n;
    struct libvirt_connections *conns;
    struct workers *workers;
    struct host_memory *memory;
    struct cpu_list cpus;
    struct arena said_arena;
    const char **said; /* the faults of the last look */
    size_t n_said;
};

static void say_unencrypted(const struct collector *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (strstr(c->hosts[i].uri, "+tcp://"))
            log_warning("%s: THE CONNECTION IS NOT ENCRYPTED (%s): everybody in the network can read it and, "
                        "where no "
                        "login is asked for, do anything with the host; use qemu+tls or qemu+ssh",
                        c->hosts[i].name, c->hosts[i].uri);
    }
}

static int create(const struct source_config *cfg, struct collector **ret, struct err *err)
{
    const struct libvirt_settings *s = cfg->settings;

    if (s->hosts.n == 0)
        return err_set(err, -EINVAL, "source.hosts has no host, expected NAME: {uri: URI}");
    struct collector *c = xcalloc(1, sizeof *c);
    const char **names = xcalloc(s->hosts.n, sizeof *names);

    c->cfg = cfg;
    c->settings = s;
    c->hosts = s->hosts.items;
    c->n = s->hosts.n;
    c->conns = ((const struct libvirt_shared *)cfg->shared)->conns;
    c->memory = xcalloc(c->n, sizeof *c->memory);
    for (size_t i = 0; i < c->n; i++)
        names[i] = c->hosts[i].name;
    c->workers =
        workers_new(c->conns, names, c->n, (int64_t)s->host_timeout_s * 1000, libvirt_migration_copies(s));
    free(names);
    say_unencrypted(c);
    libvirt_connections_watch(c->conns, cfg->changed, cfg->changed_ctx);
    *ret = c;
    return 0;
}

static void destroy(struct collector *c)
{
    if (!c)
        return;
    libvirt_connections_watch(c->conns, NULL, NULL);
    for (size_t i = 0; i < c->n; i++) {
        host_look_release(c->memory[i].look);
        host_look_release(c->memory[i].before);
    }
    workers_free(c->workers);
    arena_release(&c->cpus.arena);
    arena_release(&c->said_arena);
    free(c->memory);
    free(c);
}

static bool stopped(const struct collector *c)
{
    return c->cfg->stop && *c->cfg->stop;
}

/* ---- one round ------------------------------------------------------------------------------------ */

static void keep_look(struct host_memory *h, struct host_look *fresh)
{
    host_look_release(h->before);
    h->before = h->look;
    h->look = fresh;
}

/* A look that came too late for the last round is still the best that is known. */
static void take_late(struct collector *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct host_look *late = NULL;

        if (workers_take(c->workers, i, &late, NULL) != 0)
            continue;
        if (late->verdicts_only) { /* asked for again with the next look */
            host_look_release(late);
            continue;
        }
        keep_look(&c->memory[i], late);
        c->memory[i].answered = true;
    }
}

static void begin_round(struct collector *c, bool *asked)
{
    for (size_t i = 0; i < c->n; i++) {
        struct host_memory *h = &c->memory[i];

        asked[i] = workers_begin(c->workers, i, h->look, NULL, &c->cpus);
        if (!asked[i])
            (void)err_set(&h->err, -ETIMEDOUT, "%s: no answer since the last look", c->hosts[i].name);
    }
}

/* First the hosts that are expected to answer, then, shortly, the others. */
static void wait_round(struct collector *c, const bool *asked, int64_t deadline_ms)
{
    int64_t now = net_now_ms();
    int64_t usual = now + (int64_t)c->settings->host_timeout_s * 1000;
    int64_t again = now + WAIT_AGAIN_MS;
    bool *expected = xcalloc(c->n, sizeof *expected);

    for (size_t i = 0; i < c->n; i++)
        expected[i] = asked[i] && (c->memory[i].answered || !c->memory[i].tried);
    workers_wait(c->workers, expected, usual < deadline_ms ? usual : deadline_ms, c->cfg->stop);
    workers_wait(c->workers, asked, again < deadline_ms ? again : deadline_ms, c->cfg->stop);
    free(expected);
}

static void end_round(struct collector *c, const bool *asked, struct host_look **fresh)
{
    for (size_t i = 0; i < c->n; i++) {
        struct host_memory *h = &c->memory[i];
        int r = asked[i] ? workers_take(c->workers, i, &fresh[i], &h->err) : -EBUSY;

        if (asked[i] && r == -EBUSY)
            (void)err_set(&h->err, -ETIMEDOUT, "%s: no answer within %u s", c->hosts[i].name,
                          c->settings->host_timeout_s);
        h->tried = true;
        h->answered = r == 0;
    }
}

/* CPUs of domains that no host was asked about yet, of all hosts: a second, short question. A host that does
 * not answer it was seen all the same; until it does, it offers none of these CPUs. */
static void compare_new(struct collector *c, struct host_look **fresh, int64_t deadline_ms)
{
    size_t known = c->cpus.n;
    bool *asked = xcalloc(c->n, sizeof *asked);

    for (size_t i = 0; i < c->n; i++) {
        if (fresh[i])
            host_look_add_cpus(&c->cpus, fresh[i]);
    }
    for (size_t i = 0; i < c->n && c->cpus.n > known; i++)
        asked[i] = fresh[i] && workers_begin(c->workers, i, c->memory[i].look, fresh[i], &c->cpus);
    int64_t usual = net_now_ms() + (int64_t)c->settings->host_timeout_s * 1000;

    workers_wait(c->workers, asked, usual < deadline_ms ? usual : deadline_ms, c->cfg->stop);
    for (size_t i = 0; i < c->n; i++) {
        struct host_look *verdicts = NULL;

        if (!asked[i] || workers_take(c->workers, i, &verdicts, NULL) != 0)
            continue;
        host_look_add_verdicts(fresh[i], verdicts);
        host_look_release(verdicts);
    }
    free(asked);
}

/* Another UUID is another machine, or a libvirt whose firmware has none and that makes one up at each start.
 */
static void say_other_uuid(const char *host, struct host_memory *h, struct arena *a,
                           struct libvirt_faults *faults)
{
    const char *uuid = h->look ? h->look->caps.uuid : NULL;

    if (!uuid || strlen(uuid) >= sizeof h->uuid)
        return;
    if (!h->uuid[0])
        memcpy(h->uuid, uuid, strlen(uuid) + 1);
    if (strcmp(h->uuid, uuid) == 0)
        return;
    faults->items = arena_grow(a, faults->items, faults->n, &faults->cap, sizeof *faults->items);
    faults->items[faults->n++] = arena_printf(
        a,
        "%s: its libvirt has another UUID than before, %s instead of %s: another machine answers under this "
        "URI, or the firmware has no UUID (then set host_uuid in libvirtd.conf)",
        host, uuid, h->uuid);
}

/* Notes of migrations that another process has not settled. */
static void tell_left_over(const struct collector *c, const char *host, const struct host_look *look)
{
    const struct libvirt_shared *shared = c->cfg->shared;

    for (size_t i = 0; i < look->n_domains; i++) {
        const struct domain_look *d = &look->domains[i];
        const bool runs = d->active && d->stats.state != VIR_DOMAIN_PAUSED;

        for (uint32_t k = 0; k < d->xml.left_over.n; k++)
            shared->left_over(shared->migrations, d->uuid, host, runs, d->xml.left_over.items[k]);
    }
}

static void remember(struct collector *c, struct host_look **fresh)
{
    for (size_t i = 0; i < c->n; i++) {
        if (!fresh[i])
            continue;
        keep_look(&c->memory[i], fresh[i]);
        tell_left_over(c, c->hosts[i].name, fresh[i]);
    }
}

static void look_at_all(struct collector *c, int64_t deadline_ms)
{
    bool *asked = xcalloc(c->n, sizeof *asked);
    struct host_look **fresh = xcalloc(c->n, sizeof(struct host_look *));

    take_late(c);
    begin_round(c, asked);
    wait_round(c, asked, deadline_ms);
    end_round(c, asked, fresh);
    compare_new(c, fresh, deadline_ms);
    remember(c, fresh);
    free(asked);
    free((void *)fresh);
}

/* ---- faults --------------------------------------------------------------------------------------- */

/* A fault that stays is logged once. */
static void say_faults(struct collector *c, const struct libvirt_faults *faults)
{
    struct arena kept = {0};
    const char **said = arena_array(&kept, const char *, faults->n);

    for (size_t i = 0; i < faults->n; i++) {
        if (!texts_have(c->said, c->n_said, faults->items[i]))
            log_error("%s", faults->items[i]);
        said[i] = arena_strdup(&kept, faults->items[i]);
    }
    arena_release(&c->said_arena);
    c->said_arena = kept;
    c->said = said;
    c->n_said = faults->n;
}

static void log_host(const struct collector *c, size_t i, bool answered_before)
{
    const struct host_memory *h = &c->memory[i];

    if (h->answered && !answered_before)
        log_info("%s: answers: libvirt %lu.%lu.%lu", c->hosts[i].name, h->look->libvirt_version / 1000000,
                 h->look->libvirt_version / 1000 % 1000, h->look->libvirt_version % 1000);
    else if (!h->answered && answered_before)
        log_warning("%s; the host counts as disconnected%s", h->err.text,
                    h->look ? ", and its VMs stay where they were seen"
                            : ". It was not seen since the start: its VMs are not known, and VMs that are "
                              "off elsewhere are left out, as they may run on it, unless the service has put "
                              "it to standby");
}

/* ---- the contract --------------------------------------------------------------------------------- */

static int check_some_answered(const struct collector *c, struct err *err)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->memory[i].answered)
            return 0;
    }
    if (c->n == 1)
        return err_set(err, c->memory[0].err.code, "%s", c->memory[0].err.text);
    return err_set(err, c->memory[0].err.code, "none of %zu hosts answered; %s", c->n, c->memory[0].err.text);
}

static int collect(struct collector *c, struct arena *a, struct inventory *ret, struct err *err)
{
    unsigned timeout_s = c->cfg->timeout_s ? c->cfg->timeout_s : TIMEOUT_DEFAULT_S;
    struct inventory inv = {.cluster = c->cfg->cluster ? c->cfg->cluster : "libvirt"};
    struct libvirt_seen_host *seen = arena_array(a, struct libvirt_seen_host, c->n);
    bool *before = arena_array(a, bool, c->n);
    struct libvirt_faults faults = {0};

    for (size_t i = 0; i < c->n; i++)
        before[i] = c->memory[i].answered;
    for (size_t i = 0; i < c->n; i++)
        before[i] = before[i] || !c->memory[i].tried;
    look_at_all(c, net_now_ms() + (int64_t)timeout_s * 1000);
    if (stopped(c))
        return err_set(err, -ECANCELED, "the service is stopping");
    for (size_t i = 0; i < c->n; i++)
        log_host(c, i, before[i]);
    int r = check_some_answered(c, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < c->n; i++)
        seen[i] = (struct libvirt_seen_host){.settings = &c->hosts[i],
                                             .look = c->memory[i].look,
                                             .before = c->memory[i].before,
                                             .answered = c->memory[i].answered,
                                             .why = c->memory[i].err.text};
    libvirt_inventory(seen, c->n, c->settings, a, &inv, &faults);
    for (size_t i = 0; i < c->n; i++)
        say_other_uuid(c->hosts[i].name, &c->memory[i], a, &faults);
    say_faults(c, &faults);
    inv.source_faults = (struct ids){.items = faults.items, .n = (uint32_t)faults.n};
    inv.time = (instant_s)time(NULL);
    *ret = inv;
    return 0;
}

static void preflight(struct collector *c, const struct inventory *inv, const struct err *err,
                      unsigned operations, struct preflight *ret)
{
    (void)operations;
    (void)err; /* that of each host says more */
    for (size_t i = 0; i < c->n; i++)
        libvirt_preflight_host(&c->hosts[i], c->memory[i].answered ? c->memory[i].look : NULL,
                               &c->memory[i].err, ret);
    for (size_t i = 0; i < c->n_said; i++)
        preflight_add(ret, PREFLIGHT_CLUSTER, PREFLIGHT_PROBLEM, "%s", c->said[i]);
    libvirt_preflight_vms(inv, ret);
}

const struct collector_ops libvirt_collector = {
    .kind = "libvirt", .create = create, .collect = collect, .preflight = preflight, .destroy = destroy};
