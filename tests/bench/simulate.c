/* simulate: the CPU time of a simulated day on one core, and the part of it that decisions take.
 *
 * Two sizes: 32 hosts with 1,280 VMs, and 800 hosts with 1,052, as in the PlanetLab experiment; a pass
 * every five minutes, load that changes every five minutes. CPU time does not depend on other processes of
 * the machine. */
#include "unit/sim_scenario_made.h"

#include "base/rng.h"
#include "sim/run/simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define DAY_S 86400

static int64_t processor_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* By turns high and low, each VM in its own rhythm, drawn anew every five minutes; 45 % of all on average. */
static void add_load(struct scenario *s)
{
    struct rng r = {s->seed};
    double mean_mhz = 0.45 * SIM_HOST_MHZ * s->initial.n_hosts / s->initial.n_vms;

    for (uint32_t i = 0; i < s->initial.n_vms; i++) {
        s->vms[i].of[RES_CPU] = (struct workload){
            .kind = WORKLOAD_UNIFORM,
            .seed = rng_next(&r),
            .high = 1.5 * mean_mhz,
            .low = 0.5 * mean_mhz,
            .high_spread = mean_mhz,
            .low_spread = 0.3 * mean_mhz,
            .high_s = rng_range(&r, 3600, 20000),
            .low_s = rng_range(&r, 3600, 20000),
            .step_s = 300,
            .scale = 1,
            .max = SIM_CORE_MHZ,
        };
        s->vms[i].of[RES_MEM] =
            sim_constant(0.4 * SIM_HOST_MB * s->initial.n_hosts / s->initial.n_vms, SIM_VM_MB);
    }
}

static int day(uint32_t hosts, uint32_t vms, double look_s, bool dpm)
{
    struct arena a = {0};
    struct scenario s;
    struct simulation sim;
    struct err err = {0};
    const struct simulate_options options = {.clock_us = processor_us};

    sim_scenario_make(&s, hosts, vms, 0, false, &a);
    s.duration_s = DAY_S;
    s.look_s = look_s;
    s.policy.dpm.enabled = dpm;
    s.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    add_load(&s);
    int64_t began_us = processor_us();
    int r = simulate(&s, &options, &a, &sim, &err);

    if (r < 0)
        fprintf(stderr, "%s\n", err.text);
    else
        printf("%" PRIu32 " hosts, %" PRIu32
               " VMs, a look every %.0f s, %s: %.2f s, of it deciding %.2f s; %.0f passes, "
               "%.0f migrations, %.1f hosts on\n",
               hosts, vms, look_s, dpm ? "DPM" : "no DPM", (double)(processor_us() - began_us) / 1e6,
               sim.metrics.decide_ms_total / 1000, sim.metrics.passes, sim.metrics.migrations,
               sim.metrics.hosts_on_mean);
    arena_release(&a);
    return r;
}

int main(void)
{
    return day(32, 1280, 60, false) < 0 || day(32, 1280, 60, true) < 0 || day(800, 1052, 300, false) < 0 ||
           day(800, 1052, 300, true) < 0;
}
