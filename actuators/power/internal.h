/* internal.h: what the files of this folder share. */
#ifndef BALLAST_ACTUATORS_POWER_INTERNAL_H
#define BALLAST_ACTUATORS_POWER_INTERNAL_H

#include "actuators/power/power.h"
#include "actuators/power/power_task.h"

/* ---- time limits ---- */

#define LOOK_AFTER_S 10  /* time for a controller to show the requested state */
#define OFF_FOR_S 45     /* a chassis that is still off so long after the call was not switched on */
#define SOFT_S 300       /* a soft shutdown that takes longer has failed */
#define CUT_S 30         /* a cut whose chassis is still on so much later has failed */
#define PROOF_HOLDS_S 30 /* power is cut at most so long after the caller has proved the host empty */
#define ASK_WITHIN_S 300 /* standby that could not be requested within this is not requested any more */
#define PATIENCE_S 1800  /* the caller's time limit, where it gives none */
#define FURTHER_S 60     /* turn of a method with successors, before it is clear that it has no effect */
#define STILL_S 30       /* a gap between two polls longer than this: the service was stopped or paused */
#define WAKE_LATE_S 3600 /* a wake that could not be requested for so long is not requested any more */
#define ADOPT_FOR_S 20   /* a hypervisor whose answer was lost is asked once more within this */

struct actuator {
    const struct power_config *config;
    struct actuator *inner; /* NULL: the source has none */
};

/* One call of the actuator for a host with an entry. */
struct power_change {
    struct actuator *x;
    const struct power_host *host;
    enum power_method_kind sequence[POWER_METHOD_COUNT]; /* the host's, with the one to be tested first */
    const struct operation *q;
    int64_t asked_ms; /* q->power.now on the configuration's clock */
    struct power_task c;
};

/* ---- the right machine (identity.c) ---- */

/* Reads the controller of this method and compares it with the request's machine_identity. 0, also where the
 * method has no controller that could tell; -EPERM: it is not known to be this host's, and why; other errors:
 * it could not be asked. *ret: its answer. */
int power_identity_check(const struct power_change *j, unsigned index, struct controller_identity *ret,
                         struct err *err);
/* All controllers that answer. -EPERM: one of them is not known to be this host's. */
int power_identity_check_all(const struct power_change *j, struct err *err);
int power_identity_report(const struct power_change *j, const struct machine_identity *machine,
                          struct identity_report *ret, struct err *err);

/* The change of a host's power by this request; q: NULL: nothing is changed. */
struct power_change power_change_of(struct actuator *x, const struct power_host *host,
                                    const struct operation *q);
/* Writes into the task which settings and which process it is continued by. */
void power_change_sign(const struct power_change *j, struct power_task *c);
/* Call it before everything else. */
void power_change_begin(struct power_change *j);
/* How long this call has taken, and the time on the caller's clock: calls may take minutes. */
int64_t power_spent_ms(const struct power_change *j);
instant_s power_time_now(const struct power_change *j);

/* The configuration's clock. */
int64_t power_clock_ms(const struct power_config *config);

/* A login of a method that is under way. */
struct power_login {
    struct login_guard *guard; /* NULL: none is needed */
    char *password;
};

/* Asks for a login of this method, before each of its calls; after 0 the caller calls the method, and then
 * power_login_end() with its result. An error means that nothing was sent: -EACCES: the password was refused
 * a while ago, and the pause is not over. */
int power_login_begin(const struct power_config *config, const struct power_host *h,
                      enum power_method_kind kind, struct power_login *ret, struct err *err);
void power_login_end(const struct power_config *config, struct power_login *login, int code);

/* The result of a poll(), besides the changed power_task. */
struct outcome {
    enum task_state state;
    int percent;
    bool gone;        /* TASK_FAILED: only an inventory can tell the host's state */
    bool interrupted; /* the service stops: the power_task stays unchanged */
    enum maintenance_news maintenance;
    struct err why;
    unsigned failed; /* why: WAKE_*, the method that has not woken the host; 0: it is about none */
};

/* The chassis' state by the methods that can read it; n_sequence: none says so. */
struct readings {
    unsigned on, off; /* index of the first method that says so */
    bool interrupted; /* the service goes down */
};

/* Whether the host's method at this index can do all of this (POWER_CAN_*). */
bool method_can(const struct power_change *j, unsigned index, unsigned can);
/* The first such method from this index on; n_sequence: none. */
unsigned method_next(const struct power_change *j, unsigned from, unsigned can);
/* A wake: the method that is called now or next, or whose effect is awaited: WAKE_*; 0: none. */
unsigned method_waking(const struct power_change *j);
/* WAKE_* of the method at this index. */
unsigned method_bit(const struct power_change *j, unsigned index);
/* "ipmi" */
const char *method_word(const struct power_change *j, unsigned index);

enum method_call { CALL_WAKE, CALL_SHUT_DOWN, CALL_CUT, CALL_CHASSIS, CALL_IDENTIFY, CALL_WATTS };

/* Only the member that the call is about is set; the others are 0. */
struct method_answer {
    enum chassis chassis;
    struct controller_identity identity;
    double watts;
};

/* Calls the method once, by its kept object (kept_methods.h), behind the guard of its account (login.c).
 * ret is always set. only: of a shutdown and a cut, what the method has just identified; of others NULL. */
int method_call(const struct power_config *config, const struct power_host *h,
                const struct power_method_ops *ops, enum method_call what,
                const struct controller_identity *only, struct method_answer *ret, struct err *err);

/* The same for a method of a change, by its index. */
int method_wake(const struct power_change *j, unsigned index, struct err *err);
/* only: as power_identity_check() has just returned it. */
int method_shut_down(const struct power_change *j, unsigned index, const struct controller_identity *only,
                     struct err *err);
int method_cut(const struct power_change *j, unsigned index, const struct controller_identity *only,
               struct err *err);
int method_identify(const struct power_change *j, unsigned index, struct controller_identity *ret,
                    struct err *err);
int method_chassis(const struct power_change *j, unsigned index, enum chassis *ret, struct err *err);
/* Reads the chassis' state, beginning with the method that answered last: until one answers, or from all.
 * 0: at least one answered; else the first error. -ENOTSUP: no method can read it. */
int methods_ask_chassis(struct power_change *j, bool all, struct readings *ret, struct err *err);
/* true: one method says on and another off; notes it in *out, once in a task. */
bool power_controllers_disagree(struct power_change *j, const struct readings *r, struct outcome *out);
/* Whether a method may have acted although it failed with this code. */
bool method_may_have_heard(int code);

/* The hypervisor's own operation: begins it (-> PHASE_INNER); polls it. */
int power_inner_begin(struct power_change *j, struct err *err);
int power_inner_follow(struct power_change *j, struct task_progress *ret, struct err *err);
/* Whether the source's actuator has nothing against a standby by a controller (power_request.by_controller).
 * 0, also where it cannot tell; errors as of check(), which may mean that it does not answer. */
int power_inner_allows(const struct power_change *j, struct err *err);

/* ---- telling the hypervisor (tell.c) ---- */

/* Whether the hypervisor must put the host into maintenance mode before this method may switch it off. */
bool tell_is_due(const struct power_change *j, unsigned index);
/* PHASE_TELL, and no process has asked for the maintenance mode yet. */
bool tell_not_begun(const struct power_change *j);
/* Looks for a maintenance mode of others; -> PHASE_TELL. */
void tell_prepare(struct power_change *j, struct outcome *out);
/* The steps of PHASE_TELL and PHASE_TOLD. At the end of them: PHASE_ASK, and power_task.told. */
void tell(struct power_change *j, struct outcome *out);
void tell_follow(struct power_change *j, struct outcome *out);
/* Right before a controller is asked: 0, also where the hypervisor was not told; -EPERM: the host is not in
 * maintenance mode any more; errors as of start(). */
int tell_holds(const struct power_change *j, struct err *err);
/* PHASE_TOLD: cancels the hypervisor's task. */
int tell_cancel(struct actuator *x, const struct operation *standby, const char *task, struct err *err);

/* The time limit of the whole operation, in seconds. */
instant_s power_time_limit_s(const struct power_change *j);

/* Before each step of a wake: what another process, or other settings, may have called is not known. */
void wake_continue(struct power_change *j);
/* One step of each operation; a step calls each method at most once. */
void wake_step(struct power_change *j, struct outcome *out);
void standby_step(struct power_change *j, struct outcome *out);

/* When the wait for the host began; time in which no method could be called does not count. */
instant_s wake_since(const struct power_change *j);

#endif
