/* attempt.h: one attempt to deliver a message to a target; blocks, for ALARM_ATTEMPT_S at most. */
#ifndef BALLAST_ALARM_ATTEMPT_H
#define BALLAST_ALARM_ATTEMPT_H

#include "alarm/message.h"
#include "config/config.h"

#include <ballast/err.h>

#include <stdatomic.h>

#define ALARM_ATTEMPT_S 30

struct alarm_answer {
    int code;              /* 0: delivered; else a negative errno */
    bool refused;          /* for what the message is: another one may be taken */
    bool partly;           /* delivered, but not to all recipients: `text` says why */
    int64_t retry_after_s; /* what the receiver asks for; 0: nothing */
    struct err text;       /* the receiver's answer in one line, or why there is none */
};

/* now: of the day. stop: ends the attempt within a second; NULL: never. */
void alarm_attempt(const struct config_alarm *t, const struct alarm_message *m, instant_s now,
                   const atomic_bool *stop, struct alarm_answer *ret);

/* Connects and logs in, and sends nothing: 0 and what was found, or a negative errno and what is wrong. */
int alarm_connect(const struct config_alarm *t, struct err *ret);

/* "https://alerts.example", "smtp://mail.example:587", "/usr/bin/msmtp": a path may be secret, so it is left
 * out. */
const char *alarm_address(const struct config_alarm *t, struct arena *a);

#endif
