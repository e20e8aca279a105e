/* session.h: an RMCP+ session with a controller, over libfreeipmi.
 *
 * It is opened for one call and closed after it: controllers have room for few sessions, and one that is kept
 * must be found broken before it can be opened anew. Both calls block; call_timeout.h ends them in time.
 * Errors begin with what is wrong, without the host's name, which the caller puts before.
 */
#ifndef BALLAST_IPMI_SESSION_H
#define BALLAST_IPMI_SESSION_H

#include "presence_ping.h"
#include "settings.h"

#include <freeipmi/freeipmi.h>

struct ipmi_pace {
    unsigned repeat_ms;  /* a message that was not answered is sent again; later each time */
    unsigned give_up_ms; /* the session is broken when nothing came for so long */
};

/* FreeIPMI's own set-up, once in the process. -ENOSYS: it fails. */
int ipmi_set_up(struct err *err);

/* *ret_again: another session may well go better (a message was lost, it is busy). */
int ipmi_session_open(const struct ipmi_settings *s, const struct ipmi_peer *peer, struct ipmi_pace pace,
                      ipmi_ctx_t *ret, bool *ret_again, struct err *err);

/* After a session was refused for reasons that FreeIPMI does not tell (-EPROTO): asks the controller by
 * ourselves, and gives its reason; 0 and nothing said where it has none. */
int ipmi_session_why(const struct ipmi_settings *s, const struct deadline *d, struct err *err);

/* Sends a command (rq[0]) and gives the answer as answer.h wants it: its length, or a negative error. */
int ipmi_session_command(ipmi_ctx_t ctx, const struct ipmi_settings *s, uint8_t net_fn, const uint8_t *rq,
                         size_t rq_len, uint8_t rs[IPMI_ANSWER_MAX], bool *ret_again, struct err *err);

/* Tells the controller, and does not insist. NULL is fine. */
void ipmi_session_close(ipmi_ctx_t ctx);

#endif
