/* host_power.c: what every host draws at a look, and what its VMs lack: the samples of which the account is
 * made.
 *
 * A meter is believed. Without one a host draws what its model says: from power_idle_w to power_peak_w as its
 * CPU is used, along power_curve_w where that is known; power_idle_w while it boots, power_standby_w asleep
 * (nothing, where that is not known). The power of a host without figures and meter is unknown.
 *
 * What meters read of what the model says while the host is on is its scale; it holds for what the host would
 * draw were it on, and for what it draws while its meter cannot be read. Where there is no model it stands
 * for the watts themselves. */
#include "engine/knowledge/host_power.h"

#include "core/demand/sample_guard.h"
#include "core/power/capped_demand.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/vm_demand.h"

#include <math.h>
#include <string.h>

#define SCALE_MOST                                                                                           \
    5 /* nothing draws so many times as much as its model says, nor less than so many watts                  \
       */

/* What happens on a host. */
struct use {
    double used_mhz; /* CPU that its VMs got, as far as it was measured */
    double wanted[RES_COUNT], unmet[RES_COUNT];
    double unmeasured_mhz; /* of wanted: by VMs of which only the demand is known */
};

/* Whose figures cannot be right weighs what it did when that was last known. What limits, its own or its
 * pools', would never give it is not lacked. */
static void add_vm(struct use *u, const struct knowledge_context *c, const struct snapshot *s,
                   const struct capped_demand *may, const struct seen_vm *v)
{
    uint32_t ix = snapshot_find_vm(s, v->is.id);
    double demand[RES_COUNT] = {v->is.demand[RES_CPU], v->is.demand[RES_MEM]};
    struct finding wrong;
    bool is_right =
        ix != IX_NONE && !v->is.demand_unknown && !sample_guard_find(s, &c->settings->policy, ix, &wrong);

    if (!is_right && !demand_history_last(vm_demand_history(c->known->vms), v->is.id, s->time, demand))
        return;
    for (int r = 0; r < RES_COUNT; r++)
        demand[r] = is_right ? capped_demand_now(may, ix, (enum resource)r)
                             : fmin(demand[r], vm_facts_limit_in_force(&v->is, r));
    double wants = demand[RES_CPU];

    u->wanted[RES_CPU] += wants;
    u->wanted[RES_MEM] += demand[RES_MEM];
    if (is_right && v->sample.present && v->sample.cpu_used_mhz >= 0) {
        u->used_mhz += v->sample.cpu_used_mhz;
        u->unmet[RES_CPU] += fmax(0, wants - v->sample.cpu_used_mhz);
    } else {
        u->unmeasured_mhz += wants;
    }
}

/* Of a VM that was measured it is known what it got. What the others and all memory lack is what they want
 * beyond the host's capacity: who of them lacks it is a matter of shares, how much is not. */
static void finish_use(struct use *u, const struct host *h)
{
    double left = fmax(0, h->capacity[RES_CPU] - u->used_mhz);

    u->unmet[RES_CPU] += fmax(0, u->unmeasured_mhz - left);
    u->used_mhz += fmin(u->unmeasured_mhz, left);
    u->unmet[RES_MEM] = fmax(0, u->wanted[RES_MEM] - h->capacity[RES_MEM]);
}

static struct use *use_of_hosts(const struct knowledge_context *c, const struct snapshot *s, struct arena *a)
{
    const struct inventory *inv = c->inventory;
    struct use *use = arena_array(a, struct use, s->n_hosts);
    struct capped_demand may;

    capped_demand_init(&may, s, a);
    for (size_t i = 0; i < inv->n_vms; i++) {
        const struct seen_vm *vm = &inv->vms[i];
        uint32_t host = vm->host && vm->is.state == VM_ON ? snapshot_find_host(s, vm->host) : IX_NONE;

        if (host != IX_NONE)
            add_vm(&use[host], c, s, &may, vm);
    }
    for (uint32_t i = 0; i < s->n_hosts; i++)
        finish_use(&use[i], &s->hosts[i]);
    return use;
}

/* ---- phases ---------------------------------------------------------------------------------- */

enum energy_phase host_power_phase(enum host_state state)
{
    switch (state) {
    case HOST_ON:
    case HOST_ENTERING_MAINTENANCE:
    case HOST_MAINTENANCE:
    case HOST_ENTERING_STANDBY:
        return ENERGY_AWAKE;
    case HOST_STANDBY:
        return ENERGY_ASLEEP;
    case HOST_POWERING_ON:
        return ENERGY_BOOTING;
    case HOST_DISCONNECTED:
    case host_state_count:
        break;
    }
    return ENERGY_UNSEEN;
}

enum energy_phase host_power_phase_of(const struct knowledge_context *c, const char *host,
                                      enum host_state state)
{
    enum energy_phase phase = host_power_phase(state);

    if (hosts_is_held(c->known->hosts, host)) /* it has booted, or has never been off */
        return ENERGY_AWAKE;
    for (size_t i = 0; phase == ENERGY_ASLEEP && i < c->n_waking; i++) {
        if (c->waking[i].asked && strcmp(c->waking[i].host, host) == 0)
            return ENERGY_BOOTING;
    }
    return phase;
}

/* Whether it would be on, and do its part of the work, if no host slept. */
static bool takes_part(const struct host *h)
{
    return h->is.state != HOST_DISCONNECTED && h->is.state != HOST_MAINTENANCE && !h->is.left_inventory;
}

/* ---- watts ----------------------------------------------------------------------------------- */

/* UNKNOWN where the host has no figures. used_mhz: of all its CPU. */
static double model_watts(const struct host_facts *f, double used_mhz)
{
    return host_facts_watts(f, f->total[RES_CPU] > 0 ? used_mhz / f->total[RES_CPU] : 0);
}

/* What is no such relation was learned while the host had no model, or another one. */
static double usable_scale(const struct host_facts *f, double scale)
{
    bool has_model = !isnan(model_watts(f, 0));
    bool is_ratio = scale <= SCALE_MOST && scale * SCALE_MOST >= 1;

    return has_model == is_ratio ? scale : UNKNOWN;
}

static double scaled(double scale, double watts)
{
    return isnan(scale) ? watts : scale * watts;
}

static double watts_of(const struct host_facts *f, enum energy_phase phase, double used_mhz, double scale)
{
    bool has_model = !isnan(model_watts(f, 0));

    if (!isnan(f->power_w))
        return f->power_w;
    switch (phase) {
    case ENERGY_AWAKE:
        return has_model ? scaled(scale, model_watts(f, used_mhz)) : scale;
    case ENERGY_BOOTING: /* firmware and kernel keep few cores busy, and few of them for long */
        return has_model ? scaled(scale, model_watts(f, 0)) : scale;
    case ENERGY_ASLEEP:
        return !isnan(f->power_standby_w) ? f->power_standby_w : has_model || !isnan(scale) ? 0 : UNKNOWN;
    case ENERGY_UNSEEN:
        break;
    }
    return UNKNOWN;
}

/* What it would draw, were it on and did its part of the work. */
static double awake_watts(const struct host *h, double done, double scale)
{
    double model = model_watts(&h->is, done * h->capacity[RES_CPU]);

    return isnan(model) ? scale : scaled(scale, model);
}

/* What of its capacity each host would have to give, had all that can be on an equal part of the work. Those
 * that are not counted neither take of it nor give, or the others would seem to have saved what they do. */
static double work_done(const struct snapshot *s, const struct use *use, const struct energy_sample *samples,
                        const double *scales)
{
    double used = 0;
    double capacity = 0;

    for (uint32_t i = 0; i < s->n_hosts; i++) {
        if (!takes_part(&s->hosts[i]) || isnan(samples[i].watts) ||
            isnan(awake_watts(&s->hosts[i], 0, scales[i])))
            continue;
        used += use[i].used_mhz;
        capacity += s->hosts[i].capacity[RES_CPU];
    }
    return capacity > 0 ? used / capacity : 0;
}

static void learn_scale(struct energy *account, const struct host_facts *f, const struct energy_sample *is,
                        double used_mhz, instant_s now)
{
    double model = model_watts(f, used_mhz);

    if (is->phase != ENERGY_AWAKE || isnan(f->power_w) || model == 0)
        return;
    energy_account_learn_scale(account, f->id, isnan(model) ? f->power_w : f->power_w / model, now);
}

struct energy_sample *host_power_sample(struct energy *account, const struct knowledge_context *c,
                                        const struct snapshot *s, struct arena *a)
{
    const struct use *use = use_of_hosts(c, s, a);
    struct energy_sample *samples = arena_array(a, struct energy_sample, s->n_hosts);
    double *scales = arena_array(a, double, s->n_hosts);

    for (uint32_t i = 0; i < s->n_hosts; i++)
        samples[i] =
            (struct energy_sample){.host = s->hosts[i].is.id,
                                   .phase = host_power_phase_of(c, s->hosts[i].is.id, s->hosts[i].is.state)};
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host *h = &s->hosts[i];
        struct energy_sample *is = &samples[i];

        learn_scale(account, &h->is, is, use[i].used_mhz, s->time);
        scales[i] = usable_scale(&h->is, energy_account_scale(account, h->is.id));
        is->watts = watts_of(&h->is, is->phase, use[i].used_mhz, scales[i]);
        is->measured = !isnan(h->is.power_w);
    }
    double done = work_done(s, use, samples, scales);

    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host *h = &s->hosts[i];
        struct energy_sample *is = &samples[i];

        is->all_on_w = takes_part(h) ? awake_watts(h, done, scales[i]) : is->watts;
        if (isnan(is->all_on_w)) /* no saving is reported where a figure is unknown */
            is->all_on_w = is->watts;
        for (int r = 0; r < RES_COUNT && is->phase != ENERGY_UNSEEN; r++) {
            is->wanted[r] = use[i].wanted[r];
            is->unmet[r] = use[i].unmet[r];
        }
    }
    return samples;
}
