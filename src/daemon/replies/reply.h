/* reply.h: replies to requests, as JSON from the engine's state. README.md has the fields. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_H
#define BALLAST_DAEMON_REPLIES_REPLY_H

#include "base/json_writer.h"
#include "base/strbuf.h"
#include "daemon/replies/reply_daemon.h"
#include "engine/engine.h"
#include "request/request.h"

/* One line, without a newline. */
void reply_error(const struct err *err, struct strbuf *out);

/* Answers requests that change nothing: all but apply, reject, run, place, pause, resume and maintenance.
 * store: for ended actions. */
int reply_view(const struct engine *e, const struct store_ops *store_ops, struct store *store,
               const struct request *request, const struct daemon_state *daemon, instant_s now,
               struct strbuf *out, struct err *err);

/* The newest inventory; -EAGAIN with a sentence: none has been read yet. */
int reply_need_snapshot(const struct engine *e, const struct snapshot **ret, struct err *err);

/* {"ok": true} alone, of a command that has ended with r = 0. Returns r. */
int reply_done(int r, struct strbuf *out);

/* The figures and recommendations of the requested pass. */
void reply_pass(const struct engine *e, uint64_t pass, instant_s now, struct strbuf *out);

/* A placement, or a migration to the best host: the plan as JSON and as text, and the started actions. */
void reply_placement(const struct engine *e, const struct placement *p, struct strbuf *out);

/* Recommendations that a person decided on, in their present state, and those left out. */
void reply_actions(const struct engine *e, const uint64_t *ids, size_t n, const struct left_outs *rest,
                   struct strbuf *out);

/* The actions of a command for a host, and the names of its VMs: those that run, if the host is emptied
 * first, and those that do not run. */
void reply_host_command(const struct engine *e, const char *host, bool empties, const uint64_t *ids, size_t n,
                        struct strbuf *out);

#endif
