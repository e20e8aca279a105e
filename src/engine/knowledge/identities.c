/* identities.c: what the controllers of each host say of themselves, and when they are asked again. */
#include "engine/knowledge/identities.h"

#include "base/hardware_uuid.h"
#include "base/name_define.h"
#include "base/xalloc.h"
#include "engine/knowledge/hosts.h"
#include "engine/retry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define AT_ONCE 4
#define PERIOD_S 86400
#define DOUBTED_S 3600 /* what stands in the way may have been mended at the controller */
#define RETRY_S 60     /* of one that does not answer; doubled up to DOUBTED_S */

NAME_DEFINE(host_identity, HOST_IDENTITIES)

struct identity {
    char uuid[HARDWARE_UUID_TEXT]; /* of the machine, as the hypervisor last said; "": none that is its own */
    enum host_identity is;
    char *controllers, *why; /* as in struct engine_identity */
    instant_s ask_after;
    unsigned failures; /* in a row */
    uint64_t serial;   /* of the question that is out; 0: none */
    bool is_old;       /* ... which was asked by former settings */
};

struct identities {
    struct known_map map; /* host id -> struct identity */
    const struct engine_settings *settings;
    uint64_t serial; /* of the newest question */
    unsigned n_out;
    uint32_t next; /* the host of the newest inventory that is looked at next */
    bool none;     /* no host has a controller of its own */
};

static struct identity *find_or_make(struct identities *all, const char *host)
{
    void **slot = idmap_slot(&all->map.of, host);

    if (!*slot) {
        struct identity *i = xcalloc(1, sizeof *i);

        i->is = HOST_IDENTITY_UNREAD;
        *slot = i;
    }
    return *slot;
}

/* ---- the hardware UUIDs of the inventory ----------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    return *(const uint8_t *)a - *(const uint8_t *)b;
}

/* The same text for the same bytes in any order. */
static void sorted_text(const struct hardware_uuid *u, char ret[HARDWARE_UUID_TEXT])
{
    struct hardware_uuid sorted = *u;

    qsort(sorted.byte, sizeof sorted.byte, 1, by_value);
    hardware_uuid_print(&sorted, ret);
}

/* Two hosts with one UUID cannot be told apart by it: it counts as none. */
static void learn_uuids(struct identities *all, const struct snapshot *s)
{
    struct idmap seen = {0}; /* sorted bytes -> struct identity of the first host that has them */

    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host_facts *f = &s->hosts[i].is;
        struct identity *x = find_or_make(all, f->id);
        char key[HARDWARE_UUID_TEXT];
        struct hardware_uuid u;

        if (!f->hardware_uuid)
            continue; /* it may be out of contact: its former UUID holds */
        x->uuid[0] = '\0';
        if (hardware_uuid_parse(f->hardware_uuid, &u) < 0 || hardware_uuid_is_placeholder(&u))
            continue;
        sorted_text(&u, key);
        void **slot = idmap_slot(&seen, key);
        struct identity *other = *slot;

        if (other)
            other->uuid[0] = '\0';
        else
            hardware_uuid_print(&u, x->uuid);
        *slot = other ? other : x;
    }
    idmap_release(&seen, NULL);
}

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct identities *all = piece;

    (void)c, (void)a;
    learn_uuids(all, s);
    all->next = 0;
}

/* ---- what passes see ------------------------------------------------------------------------- */

static bool holds_back(const struct identity *x)
{
    return x->is == HOST_IDENTITY_UNKNOWN || x->is == HOST_IDENTITY_DIFFERS;
}

static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    const struct identities *all = piece;

    (void)c;
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *f = &inv->hosts[i].is;
        const struct identity *x = f->id ? idmap_get(&all->map.of, f->id) : NULL;

        if (!x || !x->why || (f->power_fault && !holds_back(x)) ||
            !hosts_has_controller(c->known->hosts, f->id))
            continue;
        f->power_fault = arena_strdup(a, x->why);
        f->controller_doubted = holds_back(x);
    }
}

void identities_get(const struct identities *all, const struct hosts *hosts, const char *host,
                    struct engine_identity *ret)
{
    const struct identity *x = idmap_get(&all->map.of, host);
    const struct known_host *k = hosts_find(hosts, host);

    *ret = (struct engine_identity){.is = HOST_IDENTITY_HYPERVISOR};
    if (k && k->r.confirmed) {
        ret->confirmed_by = k->r.confirmed_by;
        ret->confirmed_at = k->r.confirmed_at;
    }
    if (!hosts_has_controller(hosts, host))
        return;
    ret->is = x ? x->is : HOST_IDENTITY_UNREAD;
    ret->controllers = x ? x->controllers : NULL;
    ret->why = x ? x->why : NULL;
}

struct machine_identity identities_machine(const struct identities *all, const struct hosts *hosts,
                                           const char *host)
{
    const struct identity *x = idmap_get(&all->map.of, host);
    const struct known_host *k = hosts_find(hosts, host);

    return (struct machine_identity){.hardware_uuid = x && x->uuid[0] ? x->uuid : NULL,
                                     .confirmed = k ? k->r.confirmed : NULL};
}

/* ---- questions and answers ------------------------------------------------------------------- */

/* False: the actuators take no more. */
static bool ask(struct identities *all, const struct hosts *hosts, const struct engine_ports *port,
                const char *host, struct identity *x, instant_s now)
{
    struct err err = {0};
    const struct job job = {
        .kind = JOB_IDENTIFY,
        .id = all->serial + 1,
        .identify = {.host = host, .machine = identities_machine(all, hosts, host)},
    };
    int r = port->actuators_ops->submit(port->actuators, &job, &err);

    all->none = r == -ENOTSUP;
    if (r < 0)
        return false;
    x->serial = ++all->serial;
    x->ask_after = now + PERIOD_S;
    all->n_out++;
    return true;
}

void identities_ask(struct identities *all, const struct hosts *hosts, const struct engine_ports *port,
                    const struct snapshot *s, instant_s now)
{
    if (all->none || !s || !all->settings || all->settings->n_ways == 0)
        return;
    for (; all->next < s->n_hosts && all->n_out < AT_ONCE; all->next++) {
        const char *host = s->hosts[all->next].is.id;
        struct identity *x = find_or_make(all, host);

        if (x->serial != 0 || now < x->ask_after || !hosts_has_controller(hosts, host))
            continue;
        if (!ask(all, hosts, port, host, x, now))
            return;
    }
}

static void take_report(struct identity *x, const struct identity_report *r, instant_s now)
{
    static const enum host_identity states[] = {[IDENTITY_MATCHES] = HOST_IDENTITY_MATCHES,
                                                [IDENTITY_CONFIRMED] = HOST_IDENTITY_CONFIRMED,
                                                [IDENTITY_UNKNOWN] = HOST_IDENTITY_UNKNOWN,
                                                [IDENTITY_DIFFERS] = HOST_IDENTITY_DIFFERS};

    x->is = states[r->verdict];
    xstrset(&x->controllers, r->is);
    xstrset(&x->why, r->why.text[0] ? r->why.text : NULL);
    x->failures = 0;
    x->ask_after = now + (x->why ? DOUBTED_S : PERIOD_S);
}

bool identities_result(struct identities *all, const struct job *job, const struct job_result *result,
                       instant_s now)
{
    struct identity *x = idmap_get(&all->map.of, job->identify.host);

    if (!x || x->serial == 0 || x->serial != job->id)
        return false;
    x->serial = 0;
    all->n_out--;
    if (x->is_old) {
        x->is_old = false;
        x->ask_after = 0;
        all->next = 0;
        return false;
    }
    if (result->code == -ENOTSUP) { /* Wake-on-LAN cannot shut down, and the hypervisor knows the host */
        x->is = HOST_IDENTITY_HYPERVISOR;
        xstrset(&x->controllers, NULL);
        xstrset(&x->why, NULL);
    } else if (result->code < 0) {
        x->failures++;
        x->ask_after = now + retry_doubled_s(RETRY_S, DOUBTED_S, x->failures);
        if (!holds_back(x))
            x->is = HOST_IDENTITY_UNREAD;
        xstrset(&x->why, result->err.text);
    } else {
        take_report(x, &result->identity, now);
    }
    return true;
}

void identities_failed(struct identities *all, const char *host, const struct err *why, instant_s now)
{
    struct identity *x = find_or_make(all, host);

    xstrset(&x->why, why->text);
    x->ask_after = now + retry_doubled_s(RETRY_S, DOUBTED_S, ++x->failures);
}

int identities_check(struct identities *all, const struct hosts *hosts, const char *host, struct err *err)
{
    struct identity *x = idmap_get(&all->map.of, host);

    if (!x || !x->why || !holds_back(x) || !hosts_has_controller(hosts, host))
        return 0;
    x->ask_after = 0; /* a person wants to know: it may have been mended */
    all->next = 0;
    return err_set(err, -EPERM, "%s", x->why);
}

void identities_confirmed(struct identities *all, const char *host)
{
    struct identity *x = find_or_make(all, host);

    x->is = HOST_IDENTITY_CONFIRMED;
    xstrset(&x->why, NULL);
    x->ask_after = 0; /* the actuators are to agree */
    all->next = 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* A question that is out stays so: its answer, by the former settings, tells nothing. */
static bool ask_again(const char *key, void *value, void *ctx)
{
    struct identity *x = value;

    (void)key, (void)ctx;
    x->failures = 0;
    x->ask_after = 0;
    x->is_old = x->serial != 0;
    return true;
}

static void configure(void *piece, const struct engine_settings *settings)
{
    struct identities *all = piece;

    all->settings = settings;
    all->none = false;
    all->next = 0;
    idmap_keep(&all->map.of, ask_again, NULL);
}

static void identity_free(void *value)
{
    struct identity *x = value;

    free(x->controllers);
    free(x->why);
    free(x);
}

const struct knowledge_ops identities_ops = {
    .size = sizeof(struct identities),
    .entry_free = identity_free,
    .configure = configure,
    .fill = fill,
    .observe = observe,
};
