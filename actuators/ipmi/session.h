/* session.h: an RMCP+ session with a controller, by libfreeipmi.
 *
 * A session is opened for one call and closed after it: controllers have few of them, and a kept session
 * would have to be found broken before it could be replaced. Opening and commands block; call_timeout.h
 * ends them in time. Error texts begin with the fault; the caller puts the host's name before them.
 */
#ifndef BALLAST_IPMI_SESSION_H
#define BALLAST_IPMI_SESSION_H

#include "presence_ping.h"
#include "settings.h"

#include <freeipmi/freeipmi.h>

struct ipmi_pace {
    unsigned repeat_ms;  /* time before an unanswered message is sent again; grows with each repeat */
    unsigned give_up_ms; /* the session counts as broken after so long without an answer */
};

/* FreeIPMI's own set-up, once in the process. -ENOSYS: it fails. */
int ipmi_set_up(struct err *err);

/* *ret_again: another session may succeed (a lost message, a busy controller). */
int ipmi_session_open(const struct ipmi_settings *s, const struct ipmi_peer *peer, struct ipmi_pace pace,
                      ipmi_ctx_t *ret, bool *ret_again, struct err *err);

/* After FreeIPMI was refused a session without a reason (-EPROTO): asks the controller directly. Returns
 * its reason; 0, with *err unchanged, if it gives none. */
int ipmi_session_why(const struct ipmi_settings *s, const struct deadline *d, struct err *err);

/* Sends a command (rq[0]) and stores the answer in the form that answer.h parses. Returns its length, or a
 * negative error. */
int ipmi_session_command(ipmi_ctx_t ctx, const struct ipmi_settings *s, uint8_t net_fn, const uint8_t *rq,
                         size_t rq_len, uint8_t rs[IPMI_ANSWER_MAX], bool *ret_again, struct err *err);

/* Closes the session; a controller that does not answer is not asked again. NULL is fine. */
void ipmi_session_close(ipmi_ctx_t ctx);

#endif
