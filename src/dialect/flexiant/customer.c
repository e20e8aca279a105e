/* customer.c: what a customer sees of the cloud. Nodes, their keys and the keys of the system are left out.
 */
#include "dialect/flexiant/internal.h"

#include <errno.h>
#include <string.h>

static bool is_shown(const struct placement_key *k)
{
    return k->owner != KEY_SYSTEM && k->name[0] != HIDDEN_RESERVED && k->name[0] != HIDDEN_SPECIAL;
}

static void put_keys(const struct objects *keys, struct strbuf *out)
{
    const struct placement_key *items = keys->items;

    for (uint32_t i = 0; i < keys->n; i++) {
        const struct placement_key *k = &items[i];

        if (!is_shown(k))
            continue;
        strbuf_printf(out, ", %s ", k->name);
        if (k->value.type == VALUE_NUMBER)
            strbuf_printf(out, "%.12g", k->value.number);
        else if (k->value.type == VALUE_TEXT)
            strbuf_printf(out, "\"%s\"", k->value.text);
        else
            strbuf_puts(out, k->value.truth ? "true" : "false");
        if (k->weight != 0)
            strbuf_printf(out, " (weight %.12g)", k->weight);
    }
}

static void put_part(const char *what, const struct keyed *r, uint32_t i, struct strbuf *out)
{
    strbuf_printf(out, "        %s %s", what, r->id ? r->id : "");
    if (!r->id)
        strbuf_printf(out, "%u", i + 1);
    put_keys(&r->keys, out);
    strbuf_puts(out, "\n");
}

static void put_server(const struct server *s, struct strbuf *out)
{
    strbuf_printf(out, "    server %s: %s, %.12g MB, %u CPU%s", s->name ? s->name : s->r.id,
                  s->running ? "running" : "stopped", s->ram_mb, s->cpus, s->cpus == 1 ? "" : "s");
    put_keys(&s->r.keys, out);
    strbuf_puts(out, "\n");
    for (uint32_t i = 0; i < s->disks.n; i++)
        put_part("disk", &((const struct disk *)s->disks.items)[i].r, i, out);
    for (uint32_t i = 0; i < s->nics.n; i++)
        put_part("NIC", &((const struct nic *)s->nics.items)[i].r, i, out);
}

static void put_vdc(const struct cloud *c, const struct owned *vdc, struct strbuf *out)
{
    strbuf_printf(out, "VDC %s", vdc->r.id);
    put_keys(&vdc->r.keys, out);
    strbuf_puts(out, "\n");
    for (uint32_t i = 0; i < c->lists[SERVERS].n; i++) {
        const struct server *s = flexiant_item(c, SERVERS, i);
        if (strcmp(s->vdc, vdc->r.id) == 0)
            put_server(s, out);
    }
}

int flexiant_show_customer(const json_t *cloud, const char *customer, struct arena *a, struct strbuf *out,
                           struct err *err)
{
    struct cloud c;
    int e = flexiant_read(cloud, a, &c, err);

    if (e < 0)
        return e;
    const struct owned *of = flexiant_find(&c, CUSTOMERS, customer);

    if (!of)
        return err_set(err, -EINVAL, "/customers: none has the id \"%.100s\", expected one that is there",
                       customer);
    strbuf_printf(out, "customer %s", of->r.id);
    put_keys(&of->r.keys, out);
    strbuf_puts(out, "\n");
    for (uint32_t i = 0; i < c.lists[VDCS].n; i++) {
        const struct owned *vdc = flexiant_item(&c, VDCS, i);
        if (strcmp(vdc->customer, customer) == 0)
            put_vdc(&c, vdc, out);
    }
    return 0;
}
