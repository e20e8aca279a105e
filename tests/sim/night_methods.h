/* night_methods.h: a night in which hosts sleep, and the methods that switch its simulated hosts: made ones,
 * with faults. For nights.c. */
#ifndef BALLAST_TESTS_SIM_NIGHT_METHODS_H
#define BALLAST_TESTS_SIM_NIGHT_METHODS_H

#include "actuators/power/power.h"
#include "base/rng.h"
#include "sim/run/service.h"

#define HOSTS_MOST 6
#define TIMEOUT_S 20

enum method_fault {
    WORKS,
    SLOW,     /* each call takes most of its time limit */
    LOSES,    /* it does as it is told, and its answer is lost */
    SAYS_OFF, /* whatever the chassis is */
    SAYS_ON,
    DEAF,         /* no answer */
    REFUSES,      /* the password is wrong */
    DOES_NOTHING, /* it says yes */
    PRETENDS,     /* it says yes, does nothing, and says that the chassis is on */
    BUSY,
    METHOD_FAULTS
};

struct made_host {
    struct power_host entry;
    struct host_power_method way;
    enum power_method_kind sequence[POWER_METHOD_COUNT];
    enum method_fault fault[POWER_METHOD_COUNT];
    double fault_from_s[POWER_METHOD_COUNT];
    double meter_until_s; /* it can be read before this; INFINITY: always */
    bool boots_badly;     /* late, or not at all */
    bool slept;
    bool by_hypervisor;   /* it was put to standby by that */
    instant_s seen;       /* of the last look that the account knows of */
    double drawn_wh;      /* until then, in truth */
    double refused_s[64]; /* when a controller of it refused a login */
    unsigned n_refused;
};

struct night {
    uint64_t seed;
    struct rng rng;
    struct scenario s;
    struct arena a;
    struct cluster *cluster;
    struct service service;
    struct power_config power;
    struct actuator_ops ops;
    struct source_config source;
    struct actuator *actuator;
    struct made_host hosts[HOSTS_MOST];
    double t_s;
    double down_s;   /* how long the service was down */
    int64_t call_ms; /* that the calls of this job have taken */
    bool talks, wrong;
};

extern struct night *N; /* the one that is on: methods have no other way to it */
extern const char *const night_fault_words[METHOD_FAULTS], *const night_kind_words[POWER_METHOD_COUNT];

/* The methods and the actuators of the night, which has a scenario and a cluster. entries and ways: one a
 * host. */
int night_methods_begin(struct night *n, struct power_host *entries, struct host_power_method *ways,
                        struct err *err);
void night_methods_end(struct night *n);

/* As a worker of the service does; ctx: the night. */
void night_run_job(void *ctx, const struct job *job, struct job_result *ret);

/* With BALLAST_TEST_TALKS. */
void night_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What must hold did not. The first time in a night is said. */
void night_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
