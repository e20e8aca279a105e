/* wake_proofs.c: what wakes have shown of each method of a host: proven, expired, failed. Which method woke
 * the host is found out by the actions (power_outcome.c). */
#include "base/name_define.h"
#include "base/wake_method.h"
#include "base/xalloc.h"
#include "engine/events.h"
#include "engine/knowledge/hosts_map.h"
#include "engine/retry.h"

#include <errno.h>
#include <stdio.h>

#define SOURCE_SETTINGS 1 /* hosts_method_settings() */

NAME_DEFINE(method_proof, METHOD_PROOFS)

bool hosts_has_entry(const struct hosts *h, const char *host)
{
    return idmap_get(&h->ways, host);
}

unsigned hosts_wake_methods(const struct hosts *h, const char *host)
{
    const struct host_power_method *way = idmap_get(&h->ways, host);

    return way ? way->wakes : WAKE_HYPERVISOR;
}

/* The source's own operation has always the same: with another source the hosts are others. */
uint64_t hosts_method_settings(const struct hosts *h, const char *host, unsigned method)
{
    const struct host_power_method *way = idmap_get(&h->ways, host);

    return way ? way->settings[wake_method_index(method)] : SOURCE_SETTINGS;
}

/* A refusal shows that the method does not work as it is; a late or a lost answer does not. */
static bool ends_proof(const struct wake_proof *p)
{
    return p->failed != 0 && !retry_is_transient(-(int)p->failed_code);
}

static enum method_proof proof_state(const struct hosts *h, const struct known_host *k, const char *host,
                                     unsigned method)
{
    const struct wake_proof *p = &k->r.proofs[wake_method_index(method)];
    const uint64_t settings = hosts_method_settings(h, host, method);
    const bool said = method == WAKE_HYPERVISOR && k->says_proven;

    if (p->settings != 0 && settings != 0 && p->settings != settings)
        return said ? METHOD_PROVEN : p->proven != 0 ? METHOD_EXPIRED : METHOD_NEVER;
    if (ends_proof(p) || (p->failed != 0 && p->proven == 0 && !said))
        return METHOD_FAILED;
    return p->proven != 0 || said ? METHOD_PROVEN : METHOD_NEVER;
}

void hosts_method_proof(const struct hosts *h, const char *host, unsigned method,
                        struct engine_method_proof *ret)
{
    const struct known_host *k = hosts_find(h, host);
    const struct wake_proof *p = k ? &k->r.proofs[wake_method_index(method)] : NULL;

    *ret = (struct engine_method_proof){.method = method};
    if (!k)
        return;
    ret->is = proof_state(h, k, host, method);
    ret->proven = p->proven;
    if (ret->is == METHOD_EXPIRED || p->failed == 0 ||
        (p->settings != 0 && p->settings != hosts_method_settings(h, host, method)))
        return;
    ret->failed = p->failed;
    ret->why = p->why;
}

bool hosts_is_proven(const struct hosts *h, const struct host_facts *f)
{
    const struct known_host *k = hosts_find(h, f->id);
    const unsigned methods = hosts_wake_methods(h, f->id);

    if (!k || k->r.wake_failed != 0)
        return !k && f->wake_verified;
    for (unsigned i = 0; i < WAKE_METHODS; i++) {
        const enum method_proof is = proof_state(h, k, f->id, WAKE_METHOD(i));

        if (methods & WAKE_METHOD(i) && (is == METHOD_PROVEN || (is == METHOD_NEVER && k->says_proven)))
            return true;
    }
    return false;
}

/* ---- what wakes say ---------------------------------------------------------------------------- */

void hosts_method_proven(struct hosts *h, const char *host, unsigned method, instant_s now)
{
    struct known_host *k = hosts_known(h, host);
    struct wake_proof *p = &k->r.proofs[wake_method_index(method)];

    xalloc_set_text(&p->why, NULL);
    *p = (struct wake_proof){.settings = hosts_method_settings(h, host, method), .proven = now};
    knowledge_touch(&h->map, &k->known);
}

/* What was known of the method with other settings is worth nothing. */
void hosts_method_failed(struct hosts *h, const char *host, unsigned method, const struct err *why,
                         instant_s now)
{
    struct known_host *k = hosts_known(h, host);
    struct wake_proof *p = &k->r.proofs[wake_method_index(method)];
    const uint64_t settings = hosts_method_settings(h, host, method);

    if (p->settings != settings)
        p->proven = 0;
    p->settings = settings;
    p->failed = now;
    p->failed_code = (uint32_t)-why->code;
    xalloc_set_text(&p->why, why->text);
    knowledge_touch(&h->map, &k->known);
}

/* That a controller answers does not show that it wakes the host, if that was what failed. */
void hosts_controllers_answered(struct hosts *h, const char *host)
{
    static const unsigned controllers[] = {WAKE_IPMI, WAKE_REDFISH};
    struct known_host *k = hosts_known(h, host);

    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++) {
        struct wake_proof *p = &k->r.proofs[wake_method_index(controllers[i])];

        if (p->failed == 0 || (ends_proof(p) && p->failed_code != EACCES && p->failed_code != EKEYREJECTED))
            continue;
        p->failed = 0;
        p->failed_code = 0;
        xalloc_set_text(&p->why, NULL);
        knowledge_touch(&h->map, &k->known);
    }
}

/* ---- what an inventory is told ----------------------------------------------------------------- */

/* Before there were proofs of single methods a host was proven as a whole. Which method had woken it is known
 * where there was only one. False: it is not known. */
bool wake_proofs_take_older(struct hosts *h, struct known_host *k, const char *host)
{
    const bool has_entry = idmap_get(&h->ways, host);
    unsigned by = k->r.woke_by & ~WOKE_BY_OLDER;

    if (!has_entry)
        by = WAKE_HYPERVISOR;
    else if (by == 0)
        by = hosts_wake_methods(h, host);
    k->r.woke_by = 0;
    knowledge_touch(&h->map, &k->known);
    if (wake_method_index(by) == WAKE_METHODS)
        return false;
    k->r.proofs[wake_method_index(by)] =
        (struct wake_proof){.settings = hosts_method_settings(h, host, by), .proven = k->r.woke};
    return true;
}

void wake_proofs_tell_older(const struct knowledge_context *c, size_t n, const char *names, instant_s now)
{
    char text[1024];

    if (n == 0)
        return;
    (void)snprintf(text, sizeof text,
                   "%zu host%s had several methods when an earlier version woke %s, and which one did it was "
                   "not kept: no method of %s is proven now; `ballast wake HOST --verify` proves one: %s",
                   n, n == 1 ? "" : "s", n == 1 ? "it" : "them", n == 1 ? "it" : "theirs", names);
    events_publish(c->engine, &(struct event){
                                  .kind = EVENT_FAULT, .time = now, .fault = fault_code_count, .text = text});
}

void wake_proofs_fill_fault(const struct hosts *h, struct host_facts *f, struct arena *a)
{
    const unsigned methods = hosts_wake_methods(h, f->id);

    for (unsigned i = 0; i < WAKE_METHODS && idmap_get(&h->ways, f->id); i++) {
        struct engine_method_proof is;

        hosts_method_proof(h, f->id, WAKE_METHOD(i), &is);
        if (methods & WAKE_METHOD(i) && is.why && !f->power_fault)
            f->power_fault =
                arena_printf(a, "%s did not wake host %s when it was last tried: %s",
                             wake_method_name(WAKE_METHOD(i)), f->name ? f->name : f->id, is.why);
    }
}
