/* reset.c: switches the system by ComputerSystem.Reset: chooses the value that the service offers, sends it,
 * follows its task, and finds out what became of a request whose answer is lost. */
#include "actuators/redfish/internal.h"
#include "base/cleanup.h"
#include "base/controller_identity.h"

#include <errno.h>
#include <stdio.h>

#define POLL_MS 500 /* for a task whose service sends no Retry-After, and for the power state */
#define POLL_MAX_S 5u
#define TRIES_MAX 16u /* of one request: values, ETags, "busy" */
#define PRECONDITIONS_MAX 2u
#define LOOKS_AGAIN_MAX 2u

/* A power request: the values of ResetType for it, the best first, and the states that it leads to. */
struct wish {
    enum redfish_reset by[2];
    size_t n;
    unsigned to;                  /* 1u << enum redfish_power */
    bool wakes;                   /* one that was reached before is told apart: -ESTALE */
    bool not_twice;               /* not sent where one of those states is reached already */
    enum redfish_power button_at; /* a push of the power button does the same in this state;
                                     REDFISH_POWER_COUNT: in none */
};

/* One call: what is known so far. */
struct request {
    const struct wish *wish;
    const struct controller_identity *only; /* the machine that is meant; NULL: whichever answers */
    unsigned looked_again;  /* because the session had ended, or the certificate was another one */
    unsigned refused;       /* values that the service turned out not to know: 1u << enum redfish_reset */
    unsigned preconditions; /* how often it asked for If-Match, or for another ETag */
    enum redfish_power is;  /* as read last; REDFISH_POWER_COUNT: not known */
    bool looked, was_so;    /* it was read; one of the wanted states was reached then */
};

/* ---- tasks ---- */

/* The final answer of a monitor is that of the request itself. The others say only that the task cannot be
 * followed; the request was taken. */
static bool is_own_answer(long status)
{
    return status == 500 || (status >= 400 && status < 500 && status != 401 && status != 403 &&
                             status != 404 && status != 408 && status != 410 && status != 429);
}

/* Polls a task while the call may last. The service has accepted the request already: only a task that
 * fails in that time is an error; a task that goes on, or that the service forgets, is none. */
static int follow(struct power_method *m, const struct redfish_reply *taken, struct err *err)
{
    unsigned wait_s = taken->retry_s;
    struct redfish_path monitor = taken->location;
    enum redfish_task state = redfish_task_state(taken->body);
    char words[REDFISH_WORDS_MAX];

    redfish_words(taken->body, words);
    while (state != REDFISH_TASK_DONE && state != REDFISH_TASK_FAILED && monitor.text[0]) {
        CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};
        int64_t ms = wait_s ? 1000 * (int64_t)(wait_s < POLL_MAX_S ? wait_s : POLL_MAX_S) : POLL_MS;

        if (redfish_wait(m->talk, ms) < 0)
            return 0;
        int r = redfish_get(m->talk, &monitor, &reply, err);
        if (r < 0)
            return is_own_answer(reply.status) ? r : 0;
        state = redfish_task_state(reply.body);
        if (reply.status != 202 && state == REDFISH_NO_TASK)
            return 0; /* the monitor returns the request's own answer: the task is over */
        redfish_words(reply.body, words);
        wait_s = reply.retry_s;
    }
    if (state != REDFISH_TASK_FAILED)
        return 0;
    return err_set(err, -EBUSY, "the controller's task failed%s%s", words[0] ? ": " : "", words);
}

/* ---- one request ---- */

static int read_action(struct power_method *m, const json_t *system, struct redfish_action *ret,
                       struct err *err)
{
    int r = redfish_action(system, ret, err);

    if (r < 0 || ret->listed || !ret->info.text[0])
        return r;
    CLEANUP(redfish_reply_release) struct redfish_reply info = {0};

    r = redfish_get(m->talk, &ret->info, &info, err);
    if (r < 0 && r != -ENOTSUP) /* a dead link: the value is tried */
        return r;
    redfish_action_info(info.body, ret);
    return 0;
}

/* Nothing but the power button is left. It means "off" to a host that is on, and "on" to one that is off, so
 * it is pushed only where an admin allows it, and only in the state that is sure to be meant. */
static int choose_button(const struct power_method *m, const struct request *q,
                         const struct redfish_action *action, enum redfish_reset *ret, struct err *err)
{
    const char *best = redfish_reset_name(q->wish->by[0]);
    bool offered = !action->listed || (action->allowed & 1u << RESET_PUSH_POWER_BUTTON);

    if (!offered || q->wish->button_at == REDFISH_POWER_COUNT || (q->refused & 1u << RESET_PUSH_POWER_BUTTON))
        return err_set(err, -ENOTSUP, "the controller does not offer %s: it has %s", best,
                       action->values[0] ? action->values : "no way to reset");
    if (!m->host->redfish.power_button)
        return err_set(
            err, -ENOTSUP,
            "the controller does not offer %s, only its power button (%s): set `power_button: true` "
            "to push that, or use another method first",
            best, redfish_reset_name(RESET_PUSH_POWER_BUTTON));
    if (q->is != q->wish->button_at)
        return err_set(err, -EBUSY,
                       "the controller does not say for sure that the host is %s, so its power button is not "
                       "pushed",
                       q->wish->button_at == REDFISH_ON ? "on" : "off");
    *ret = RESET_PUSH_POWER_BUTTON;
    return 0;
}

static int choose(struct power_method *m, const struct request *q, const struct redfish_action *action,
                  enum redfish_reset *ret, struct err *err)
{
    for (size_t i = 0; i < q->wish->n; i++) {
        unsigned bit = 1u << q->wish->by[i];
        if ((action->listed && !(action->allowed & bit)) || (q->refused & bit))
            continue;
        *ret = q->wish->by[i];
        return 0;
    }
    return choose_button(m, q, action, ret, err);
}

/* The answer is lost: the power state tells whether the request was carried out. A controller that refuses
 * the login now is not asked again and again: it would lock the account. */
static int verify(struct power_method *m, const struct request *q, int r)
{
    do {
        CLEANUP(redfish_reply_release) struct redfish_reply system = {0};
        enum redfish_power is = REDFISH_POWER_COUNT;
        int seen = redfish_get_system(m, &system, NULL);

        if (seen == -EACCES)
            return r;
        if (seen == 0 && redfish_power_state(system.body, &is, NULL) == 0 && (q->wish->to & 1u << is))
            return 0;
    } while (redfish_wait(m->talk, POLL_MS) == 0);
    return r;
}

static bool answer_is_lost(int r, const struct redfish_reply *reply)
{
    return reply->status == 0 && (r == -ETIMEDOUT || r == -ECONNRESET || r == -EPROTO);
}

/* A refused request. 1: to be tried again, in another way or after a while; 0: it was of no consequence. */
static int after_refusal(struct power_method *m, struct request *q, enum redfish_reset how,
                         const struct redfish_reply *reply, int r)
{
    if (answer_is_lost(r, reply))
        return verify(m, q, r);
    if (r == -ESTALE || reply->session_ended) { /* another machine may answer by now: look again */
        if (q->looked_again++ < LOOKS_AGAIN_MAX)
            return 1;
        return r == -ESTALE ? -EPERM : r;
    }
    if (redfish_is_busy(reply)) /* it was not carried out */
        return redfish_wait_retry(m->talk, reply, 1) == 0 ? 1 : r;
    if ((reply->status == 412 || reply->status == 428) && q->preconditions++ < PRECONDITIONS_MAX) {
        m->wants_etag = true; /* from now on */
        return 1;
    }
    if ((q->wish->to & 1u << q->is) && reply->status != 0 && r != -EACCES && r != -EPERM)
        return 0; /* many services refuse to switch on a host that is on */
    if (r == -ENOTSUP && reply->status == 400) {
        q->refused |= 1u << how;
        return 1;
    }
    return r;
}

/* Everything is read anew with each try: what was refused for now may have changed the state, and the address
 * may have become another machine's. */
static int try_once(struct power_method *m, struct request *q, struct err *err)
{
    struct controller_identity now;
    CLEANUP(redfish_reply_release) struct redfish_reply system = {0}, reply = {0};
    struct redfish_action action;
    enum redfish_reset how = RESET_ON;
    char body[64], etag[REDFISH_ETAG_MAX] = "";
    struct err refusal = {0}, none = {0};
    int r = redfish_get_system(m, &system, err);

    if (r < 0)
        return r;
    redfish_identify(m, &system, &now);
    if ((r = controller_identity_same(q->only, &now, err)) < 0)
        return r;
    q->is = REDFISH_POWER_COUNT;
    (void)redfish_power_state(system.body, &q->is, NULL);
    q->was_so = !q->looked ? (q->wish->to & 1u << q->is) != 0 : q->was_so;
    q->looked = true;
    if (q->wish->not_twice && (q->wish->to & 1u << q->is))
        return 0;
    r = read_action(m, system.body, &action, err);
    if (r == 0 && (r = choose(m, q, &action, &how, &none)) < 0 && (!q->refused || err->code == 0))
        *err = none; /* else the service's own refusal says more */
    if (r < 0)
        return r;
    (void)snprintf(body, sizeof body, "{\"ResetType\": \"%s\"}", redfish_reset_name(how));
    if (m->wants_etag)
        (void)redfish_etag(system.body, system.etag, etag);
    r = redfish_post(m->talk, &action.target, body, etag[0] ? etag : NULL, q->only != NULL, &reply, &refusal);
    if (r == 0)
        return reply.status == 202 ? follow(m, &reply, err) : 0;
    *err = refusal;
    return after_refusal(m, q, how, &reply, r);
}

static int reset(struct power_method *m, const struct wish *wish, const struct controller_identity *only,
                 struct err *err)
{
    struct request q = {.wish = wish, .only = only};
    struct err why = {0};
    int r = 1;

    for (unsigned i = 0; r > 0 && i < TRIES_MAX; i++)
        r = try_once(m, &q, &why);
    if (r > 0)
        r = why.code < 0 ? why.code : -EBUSY;
    if (r == 0 && wish->wakes && q.was_so)
        return err_set(err, -ESTALE, "host %s: Redfish at %s said before the request that the host is on",
                       m->host->name, m->host->redfish.url);
    return r < 0 ? err_set(err, r, "%s", why.text) : 0;
}

/* The controller's PowerState does not prevent a request, because controllers err: "On" for a host that is
 * on does nothing, and for one that is off in truth it is right. A soft shutdown is different: many
 * controllers implement it as a push of the power button, which would start a host that is off. */
static const struct wish wake = {.wakes = true,
                                 .by = {RESET_ON, RESET_FORCE_ON},
                                 .n = 2,
                                 .to = 1u << REDFISH_ON | 1u << REDFISH_POWERING_ON | 1u << REDFISH_PAUSED,
                                 .button_at = REDFISH_OFF};
static const struct wish soft = {.by = {RESET_GRACEFUL_SHUTDOWN},
                                 .n = 1,
                                 .to = 1u << REDFISH_OFF | 1u << REDFISH_POWERING_OFF,
                                 .not_twice = true,
                                 .button_at = REDFISH_ON};
static const struct wish hard = {
    .by = {RESET_FORCE_OFF}, .n = 1, .to = 1u << REDFISH_OFF, .button_at = REDFISH_POWER_COUNT};

int redfish_wake(struct power_method *m, struct err *err)
{
    return reset(m, &wake, NULL, err);
}

int redfish_shut_down(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    return reset(m, &soft, only, err);
}

int redfish_cut(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    return reset(m, &hard, only, err);
}
