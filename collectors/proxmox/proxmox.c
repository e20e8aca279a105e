/* proxmox.c: the collector: one look for each inventory, and what is said in the log. */
#include "collectors/proxmox/proxmox.h"

#include "base/log.h"
#include "base/xalloc.h"
#include "collectors/proxmox/pve_map.h"
#include "collectors/proxmox/pve_preflight.h"

#include <stdlib.h>

struct collector {
    struct pve_look look;
    struct pve_view view; /* of the last look that succeeded, in its arena: for preflight() only */
};

static int create(const struct source_config *cfg, struct collector **ret, struct err *err)
{
    struct collector *c = xcalloc(1, sizeof *c);

    c->look.cfg = cfg;
    int r = pve_new(cfg, &c->look.api, err);
    if (r < 0) {
        free(c);
        return r;
    }
    *ret = c;
    return 0;
}

static void destroy(struct collector *c)
{
    if (!c)
        return;
    pve_look_release(&c->look);
    pve_free(c->look.api);
    free(c);
}

static int collect(struct collector *c, struct arena *a, struct inventory *ret, struct err *err)
{
    struct pve_view view;
    struct err own = {0};

    c->view = (struct pve_view){0};
    int r = pve_look(&c->look, a, &view, err ? err : &own);

    if (r < 0)
        return r;
    pve_map(&c->look, &view, a, ret);
    log_debug("%s: %zu nodes, %zu guests in %u requests", pve_url(c->look.api), view.n_nodes, view.n_guests,
              pve_requests(c->look.api));
    c->view = view;
    return 0;
}

/* Follows one collect(), whose arena is still there. */
static void preflight(struct collector *c, const struct inventory *inv, const struct err *err,
                      unsigned operations, struct preflight *ret)
{
    pve_preflight(&c->look, &c->view, inv, err, operations, ret);
}

const struct collector_ops proxmox_collector = {
    .kind = "proxmox", .create = create, .collect = collect, .preflight = preflight, .destroy = destroy};
