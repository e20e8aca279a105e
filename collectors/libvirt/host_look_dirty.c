/* host_look_dirty.c: has the rates measured at which running domains write to their memory: a few at each
 * look, each again after a while. The result is part of the statistics of a later look. */
#include "collectors/libvirt/host_look.h"

#define DOMAINS_A_LOOK 2
#define AGAIN_MS (600 * 1000) /* load changes slowly, compared with this */
#define SAMPLE_S 1            /* QEMU samples pages at the start and at the end of this time */

/* A domain that is being moved is left alone. */
static bool is_due(const struct domain_look *d, int64_t now_ms)
{
    bool runs = d->stats.state == VIR_DOMAIN_RUNNING && d->stats.reason != VIR_DOMAIN_RUNNING_POSTCOPY;

    return runs && !d->stats.dirty_running &&
           (d->dirty_asked_ms == 0 || now_ms - d->dirty_asked_ms > AGAIN_MS);
}

void host_look_measure_dirty(virConnectPtr conn, struct host_look *look, const struct host_look *before)
{
    unsigned asked = 0;

    for (size_t i = 0; i < look->n_domains; i++) {
        const struct domain_look *then = host_look_find(before, look->domains[i].uuid);

        look->domains[i].dirty_asked_ms = then ? then->dirty_asked_ms : 0;
    }
    for (size_t i = 0; i < look->n_domains && asked < DOMAINS_A_LOOK; i++) {
        struct domain_look *d = &look->domains[i];
        virDomainJobInfo job = {0};

        if (!is_due(d, look->at_ms))
            continue;
        virDomainPtr dom = virDomainLookupByUUIDString(conn, d->uuid);
        if (!dom)
            continue;
        if (virDomainGetJobInfo(dom, &job) == 0 && job.type == VIR_DOMAIN_JOB_NONE) {
            (void)virDomainStartDirtyRateCalc(dom, SAMPLE_S,
                                              0); /* refused: asked again as late as the others */
            d->dirty_asked_ms = look->at_ms;
            asked++;
        }
        (void)virDomainFree(dom);
    }
}
