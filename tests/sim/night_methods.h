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
    LATE, /* no answer, and it does as it was told a while later */
    METHOD_FAULTS
};

/* What a controller says of the machine that it belongs to. */
enum made_uuid {
    HAS_UUID,
    NO_UUID,     /* but a serial number */
    PLACEHOLDER, /* that many machines report, and a serial number */
    MADE_UUIDS
};

/* The controller of one host and method. */
struct made_controller {
    enum method_fault fault;
    double fault_from_s;
    enum made_uuid identity;
    uint32_t other;      /* from moved_s on there is the controller of this host at the address */
    double moved_s;      /* INFINITY: never */
    double moved_back_s; /* INFINITY: for good */
};

struct made_host {
    struct power_host entry;
    struct host_power_method way;
    enum power_method_kind sequence[POWER_METHOD_COUNT];
    struct made_controller controllers[POWER_METHOD_COUNT];
    enum power_method_kind later_sequence[POWER_METHOD_COUNT]; /* after the reload */
    size_t n_before, n_later;                                  /* methods */
    bool confirms;                                             /* a person confirms what cannot be verified */
    double unlisted_from_s, listed_s; /* while it sleeps, it is not in the inventory in this time */
    bool unlisted_as_lost;            /* but shown as disconnected */
    double meter_until_s;             /* it can be read before this; INFINITY: always */
    bool boots_badly;                 /* late, or not at all */
    bool slept;
    bool by_hypervisor;           /* it was put to standby by that */
    struct energy_record account; /* at the last look that it knows of */
    double seen_s, seen_wh;       /* then: the true time, and the energy drawn in truth */
    double drawn_wh;              /* in the time that the account knows, in truth */
    double refused_s[64];         /* when a controller of it refused a login */
    unsigned n_refused;
};

/* What a controller was told, and does later. */
struct late_order {
    uint32_t host;
    bool on;
    uint32_t of; /* the host that it was meant for */
    double at_s;
};

#define LATE_MOST 16

/* The configuration of the power methods; a reload makes another one. */
struct night_power {
    struct power_host entries[HOSTS_MOST];
    struct host_power_method ways[HOSTS_MOST];
    struct power_config config;
    struct actuator_ops ops;
    struct source_config source;
    struct actuator *actuator;
};

struct night {
    uint64_t seed;
    struct rng rng;
    struct scenario s;
    struct arena a;
    struct cluster *cluster;
    struct service service;
    struct night_power power[2]; /* before and after the reload */
    struct login_guards *logins;
    char life[16]; /* names the process */
    bool reloaded;
    double reload_s;                /* INFINITY: none */
    double clock_set_s, clock_by_s; /* the clock is set then, and the service restarts; INFINITY: never */
    double ready_s;                 /* when ready_by comes */
    bool clock_was_set;
    double source_deaf_s; /* how long the source gave no answer, in all */
    struct late_order late[LATE_MOST];
    unsigned n_late;
    struct made_host hosts[HOSTS_MOST];
    double t_s;
    double down_s;   /* how long the service was down */
    int64_t call_ms; /* that the calls of this job have taken */
    bool talks, wrong;
};

extern struct night *N; /* the one that is on: methods have no other way to it */
extern const char *const night_fault_words[METHOD_FAULTS], *const night_kind_words[POWER_METHOD_COUNT];

/* The methods and the actuators of the night, which has a scenario and a cluster. */
int night_methods_begin(struct night *n, struct err *err);
/* From now on by the other configuration. The service learns the new ways by engine_configure(). */
int night_methods_reload(struct night *n, struct err *err);
void night_methods_end(struct night *n);

/* The configuration that counts now. */
struct night_power *night_power(struct night *n);

/* Controllers do what they were told long ago. The next time at which one will. */
void night_late_orders(struct night *n);
double night_late_next_s(const struct night *n);

/* Whether the controller at the host's address is another host's at this time; *ret: whose it is. */
bool night_controller_moved(const struct made_controller *c, uint32_t host, double at_s, uint32_t *ret);

/* Hosts that sleep may be missing in what the collector reads; ctx: the night. */
void night_edit_inventory(void *ctx, struct inventory *inv);

/* Holds what the account has booked since the last look against what the hosts drew. */
void night_note_looks(struct night *n);

/* As a worker of the service does; ctx: the night. */
void night_run_job(void *ctx, const struct job *job, struct job_result *ret);

/* As the firmware of the host has it. */
void night_uuid(uint32_t host, char ret[CONTROLLER_UUID_MAX]);

/* With BALLAST_TEST_TALKS. */
void night_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What must hold did not. The first time in a night is said. */
void night_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
