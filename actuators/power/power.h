/* power.h: the actuator that puts each host's own ways to be switched in an order, around the source's own
 * actuator, which may be missing.
 *
 * OPERATION_STANDBY, OPERATION_WAKE and measure() of a host that has an entry in the configuration go through
 * its methods (ballast/power.h), one after the other; POWER_HYPERVISOR among them is the source's own
 * operation. Everything else, and all other hosts, are handed to the source's own actuator as they come.
 *
 * Nothing about an operation is kept in memory: the name of its task says which method was asked and when, so
 * that any worker, or the next process, goes on with it (power_task.h). README.md has the rules.
 */
#ifndef BALLAST_ACTUATORS_POWER_H
#define BALLAST_ACTUATORS_POWER_H

#include <ballast/actuator.h>
#include <ballast/power.h>

/* Lives longer than every actuator made of it, and does not change meanwhile. */
struct power_config {
    const struct actuator_ops *inner;   /* the source's own, or NULL */
    const struct source_config *source; /* for the inner one */
    const struct power_host *hosts;
    size_t n_hosts;
    /* By kind; NULL: it cannot be used. That of POWER_HYPERVISOR is not looked at. */
    const struct power_method_ops *methods[POWER_METHOD_COUNT];
    int64_t (*clock_ms)(void); /* steady: how long calls take. NULL: the system's */
    const char *life; /* tells this process from every other that goes on with its tasks: a short word without
                       * blanks. NULL: there is no other */
};

/* The table of functions for this configuration, which its create() expects in source_config.shared. */
void power_actuator(const struct power_config *config, struct actuator_ops *ret);

/* With which of its methods the host can be woken, and put to standby: WAKE_* of facts.h. */
unsigned power_wakes(const struct power_config *config, const struct power_host *host);
unsigned power_sleeps(const struct power_config *config, const struct power_host *host);

/* By how much the wake of a host may take longer than its boots, because the method that works may be its
 * last one: for each before it, its call, a look at the chassis and a minute to show that nothing happens. */
instant_s power_wake_tries_s(const struct power_config *config, const struct power_host *host);

/* Checks each host's configuration as its methods see it; touches no network. */
int power_check(const struct power_config *config, struct err *err);

#endif
