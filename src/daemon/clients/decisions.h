/* decisions.h: the thread that answers questions about a snapshot (../decision), and the questions that wait.
 *
 * A decision may take seconds, so it is made beside the main thread, at a lower priority, one after another;
 * those of viewers in a row of their own, each with a limit (apart.h), so that operators do not wait for
 * them. The thread gets the question and the engine's snapshot, which the engine keeps until the question is
 * freed, or the stored text of a past pass's; it decides and renders, and the finished reply comes back
 * through a queue. How many clients may wait is client.h's. Main thread only. */
#ifndef BALLAST_DAEMON_CLIENTS_DECISIONS_H
#define BALLAST_DAEMON_CLIENTS_DECISIONS_H

#include "base/shared_text.h"
#include "engine/engine.h"
#include "request/request.h"
#include "store/passes.h"

#include <ballast/err.h>

#include <systemd/sd-event.h>

struct decisions;

/* done: called in the main thread after each answer. */
int decisions_start(sd_event *loop, void (*done)(void *ctx), void *ctx, struct decisions **ret,
                    struct err *err);

/* The request (REQUEST_PLAN and so on; copied) about the last snapshot, or where that is none, about the one
 * of a past pass; either is taken over. Gives the ticket, not 0. */
uint64_t decisions_ask(struct decisions *d, enum role role, const struct request *q,
                       const struct kept_snapshot *last, struct stored_snapshot *pass);

bool decisions_owns(uint64_t ticket);

/* The reply of a finished decision, once; its reference is the caller's. -EINPROGRESS: not yet. Else the
 * question's error. */
int decisions_result(struct decisions *d, uint64_t ticket, struct shared_text **ret, struct err *err);

/* The answer is not wanted any more. One that waits is never made; one that has begun is ended at once if it
 * is a viewer's, else it goes on. NULL is fine, as in all below. */
void decisions_cancel(struct decisions *d, uint64_t ticket);

/* Waits for the decision that is being made. -ETIMEDOUT: it has not ended by then, and uses its memory still.
 */
int decisions_stop(struct decisions *d, int64_t deadline_s);
void decisions_free(struct decisions *d);

#endif
