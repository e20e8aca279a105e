/* power.h: an actuator that tries a host's power methods in sequence, and hands everything else to the
 * hypervisor's actuator, which may be missing.
 *
 * OPERATION_STANDBY, OPERATION_WAKE and measure() of a host with an entry in the configuration use its
 * methods (ballast/power.h), one after the other; POWER_HYPERVISOR among them is the hypervisor's own
 * operation. All other requests go to the hypervisor's actuator unchanged.
 *
 * No state of an operation is kept in memory: the name of its task says which method was called and when,
 * so that any worker, or the next process, can continue (power_task.h). README.md has the rules.
 */
#ifndef BALLAST_ACTUATORS_POWER_H
#define BALLAST_ACTUATORS_POWER_H

#include <ballast/actuator.h>
#include <ballast/power.h>

struct kept_methods;
struct login_guards; /* net/login_guards.h */

/* Outlives every actuator created with it, and does not change. */
struct power_config {
    const struct actuator_ops *inner;   /* the source's own, or NULL */
    const struct source_config *source; /* for the inner one */
    const struct power_host *hosts;
    size_t n_hosts;
    /* By kind; NULL: the method is not available. The entry of POWER_HYPERVISOR is not used. */
    const struct power_method_ops *methods[POWER_METHOD_COUNT];
    struct kept_methods *kept; /* the methods' objects, kept between calls; NULL: each call makes one */
    /* Of all the controllers' accounts: shared by all workers, and by the configuration before and after a
     * reload. NULL: a password that was refused is tried again and again. */
    struct login_guards *logins;
    int64_t (*clock_ms)(void); /* a steady clock, for the length of calls; NULL: the system's */
    const char *life; /* identifies this process among those that may continue its tasks: a word without
                         blanks; NULL: there is no other process */
};

/* The actuator for this configuration; its create() expects the configuration in source_config.shared. */
void power_actuator(const struct power_config *config, struct actuator_ops *ret);

/* The methods that can wake the host, and those that can put it to standby: WAKE_* of facts.h. */
unsigned power_wakes(const struct power_config *config, const struct power_host *host);
unsigned power_sleeps(const struct power_config *config, const struct power_host *host);

/* How much longer a wake may take than the host's boot, because only the last method may work: for each
 * method before it one call, one reading of the chassis and a minute. */
instant_s power_wake_tries_s(const struct power_config *config, const struct power_host *host);

/* The name of the account that a method of the host logs in with, as status shows it: "ipmi admin@10.0.0.5";
 * false: it logs in nowhere, or has a guard of its own. */
#define POWER_ACCOUNT_MAX 512
bool power_account(const struct power_host *h, enum power_method_kind kind, char ret[POWER_ACCOUNT_MAX]);

/* The login of a host's serial console. It is opened beside the calls of methods, and its answer comes much
 * later, so it never makes the first try with a password: -EAGAIN: no IPMI login of the host has worked yet.
 * -EACCES: the console was refused, and the pause is not over: it grows with each refusal, and delays no
 * other login. -ENOTSUP: the host has no IPMI controller. 0: it may be opened now. */
int power_console_begin(const struct power_config *config, const struct power_host *h, struct err *err);
/* -EACCES: its password was refused; 0: it was accepted; other errors say nothing of that. */
void power_console_result(const struct power_config *config, const struct power_host *h, int code);

/* Checks each host's configuration with its methods; touches no network. */
int power_check(const struct power_config *config, struct err *err);

#endif
