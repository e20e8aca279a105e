/* ha.c: the failover capacity that the configuration asks for, beside the source's own policy; both are kept
 * (model/snapshot_build.c combines them). What cannot be kept is a sentence that becomes a fault. */
#include "base/texts.h"
#include "overlay/application.h"

#include <string.h>

static void add_conflict(struct application *p, const char *text)
{
    struct ids *list = &p->inv->ha_configured.conflicts;
    const char **items = arena_array(p->a, const char *, (size_t)list->n + 1);

    for (uint32_t i = 0; i < list->n; i++)
        items[i] = list->items[i];
    items[list->n] = text;
    *list = (struct ids){.items = items, .n = list->n + 1};
}

/* A name or pattern that is given alone. */
static const char *words_of(struct application *p, const struct condition *c)
{
    return c->names.n > 0 ? arena_printf(p->a, "\"%s\"", c->names.items[0])
                          : "an entry with a label or a tag";
}

/* Whether a host is left that is no failover host of either policy. */
static bool any_left(const struct inventory *inv, const struct ids *failover_hosts)
{
    const struct ids none = {0};
    const struct ids *of_source = inv->ha.policy == HA_DEDICATED ? &inv->ha_failover_hosts : &none;

    for (size_t i = 0; i < inv->n_hosts; i++)
        if (!texts_have(failover_hosts->items, failover_hosts->n, inv->hosts[i].is.id) &&
            !texts_have(of_source->items, of_source->n, inv->hosts[i].is.id))
            return true;
    return false;
}

static void choose_failover_hosts(struct application *p)
{
    const struct selector *s = &p->o->ha.failover_hosts;
    struct ha_configured *own = &p->inv->ha_configured;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct selector one = {.conditions = &s->conditions[i], .n = 1};

        if (application_select_hosts(p, &one).n == 0)
            add_conflict(p, arena_printf(p->a,
                                         "No host of the cluster is the failover host %s of the "
                                         "configuration (ha.failover_hosts)",
                                         words_of(p, one.conditions)));
    }
    own->failover_hosts = application_select_hosts(p, s);
    if (own->failover_hosts.n == 0 || any_left(p->inv, &own->failover_hosts))
        return;
    own->failover_hosts = (struct ids){0};
    add_conflict(
        p, "The failover hosts of the configuration (ha.failover_hosts), with those of the source, leave "
           "no host for VMs, so those of the configuration do not count");
}

/* An own policy cannot loosen the source's: an admin who expects that is told. */
static void say_what_is_weaker(struct application *p)
{
    const struct ha_facts *source = &p->inv->ha;
    const struct ha_configured *own = &p->inv->ha_configured;
    static const char *const key[RES_COUNT] = {"cpu_percent", "mem_percent"};

    if (source->policy != own->policy)
        return;
    if (own->policy == HA_HOST_FAILURES && own->hosts < source->hosts)
        application_find(p,
                         arena_printf(p->a, "ha.hosts is %u, and the source keeps capacity for %u: %u count",
                                      own->hosts, source->hosts, source->hosts));
    for (int r = 0; r < RES_COUNT && own->policy == HA_PERCENT; r++)
        if (own->percent[r] > 0 && own->percent[r] < source->percent[r])
            application_find(
                p, arena_printf(p->a,
                                "ha.%s is %.12g, and the source keeps %.12g %% of what is reserved: "
                                "both count",
                                key[r], own->percent[r], source->percent[r]));
}

void application_set_ha(struct application *p)
{
    const struct overlay_ha *ha = &p->o->ha;
    struct ha_configured *own = &p->inv->ha_configured;

    *own = (struct ha_configured){.given = ha->policy != HA_NONE, .policy = ha->policy, .hosts = ha->hosts};
    memcpy(own->percent, ha->percent, sizeof own->percent);
    if (ha->policy == HA_DEDICATED)
        choose_failover_hosts(p);
    say_what_is_weaker(p);
}
