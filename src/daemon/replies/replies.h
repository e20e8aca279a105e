/* replies.h: single replies, and parts of replies, one file each. README.md has the fields. */
#ifndef BALLAST_DAEMON_REPLIES_REPLIES_H
#define BALLAST_DAEMON_REPLIES_REPLIES_H

#include "base/json_writer.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "engine/engine.h"
#include "request/request.h"

/* ---- reply_config.c: what a reload would change ----------------------------------------------- */

/* Reads the configuration as a reload does, of the request's text or else of the service's own file, and
 * compares it with the one in force. Nothing changes. A configuration that a reload would refuse is an answer
 * too, with each mistake. Negative errno and a sentence: the file cannot be read. */
int reply_config_diff(const struct config *in_force, const struct engine *e, const struct request *q,
                      struct strbuf *out, struct err *err);

/* ---- reply_console.c: a host's console output during a wake, cleaned -------------------------- */

/* -ENOENT: there is no capture. s: for the host's name; NULL is fine. */
int reply_console(struct store *store, const struct snapshot *s, uint64_t action, struct strbuf *out,
                  struct err *err);

/* ---- reply_energy.c: the hosts' present power and the energy account -------------------------- */

/* Adds "power": watts now, hosts measured, unmet demand. */
void reply_energy_put_power(struct json_writer *w, const struct engine *e);

/* Adds the figures of an hour, or of a sum of hours, to an object that is open. */
void reply_energy_put_figures(struct json_writer *w, const struct energy_record *r);

/* When the account of the records begins, oldest first: what is missing of the first hour is taken to be
 * missing at its begin. 0: there is none. */
instant_s reply_energy_first_instant(const struct energy_record *list, size_t n);

/* Adds "energy": the account by day, hour or host, for the requested time. */
int reply_energy_put(struct json_writer *w, const struct engine *e, const struct store_ops *ops,
                     struct store *store, const struct request *q, instant_s now, struct err *err);

/* ---- reply_forecast.c: expected and actual demand --------------------------------------------- */

/* Adds "forecast": the last `hours` hours, and a day ahead. README.md has the fields. */
void reply_forecast_put(struct json_writer *w, const struct engine *e, unsigned hours, instant_s now);

/* ---- reply_identity.c: whether a host's controllers are known to be its own ------------------- */

/* The member "identity" of an object. */
void reply_identity_put(struct json_writer *w, const struct engine *e, const char *host);

/* The answer to a confirmation. */
void reply_identity(const struct engine_identity *is, struct strbuf *out);

/* ---- pages: a reply that is a part of a longer list -------------------------------------- */

/* The member "next": {field: value}, to be added to the fields of the request; null behind the last page. */
static inline void reply_page_put_next(struct json_writer *w, bool more, const char *field, uint64_t value)
{
    if (!more) {
        jw_text(w, "next", NULL);
        return;
    }
    jw_begin(w, "next", JW_OBJECT, JW_INLINE);
    jw_int(w, field, (int64_t)value);
    jw_end(w);
}

/* ---- reply_passes.c: the passes that are kept ------------------------------------------------- */

int reply_passes(struct store *store, const struct request *q, struct strbuf *out, struct err *err);

/* ---- reply_roll.c: the roll of maintenance ---------------------------------------------------- */

/* The member "roll" of an object; null if there never was one. */
void reply_roll_put(struct json_writer *w, const struct engine *e);

/* The answer to the request. */
void reply_roll(const struct engine *e, struct strbuf *out);

/* ---- reply_schedule.c: settings, coming events, and the hosts to wake ------------------------- */

/* n: the number of coming events. */
void reply_schedule(const struct engine *e, const struct config *c, instant_s now, unsigned n,
                    struct strbuf *out);

/* Adds "balance": whether optional moves are carried out now; null without balance.windows, or a snapshot
 * (NULL). */
void reply_schedule_put_balance(struct json_writer *w, const struct snapshot *s);

/* ---- reply_series.c: of the cluster, a host, a pool or a VM (engine/look.h) ------------------- */

/* Adds "series". Without `until` up to now, without `since` the day before that. */
int reply_series_put(struct json_writer *w, const struct engine *e, struct store *store,
                     const struct request *q, instant_s now, struct err *err);

/* ---- reply_summary.c: the time since a night began, in a few figures -------------------------- */

/* Every figure is taken from the store, so that a restart of the service changes none. days: how long ended
 * actions are kept (history.days); nothing older is counted. -EINVAL: `since` is not in the past. */
int reply_summary(const struct engine *e, const struct store_ops *ops, struct store *store, instant_s since,
                  int64_t days, instant_s now, struct strbuf *out, struct err *err);

/* ---- reply_cluster.c: hosts, VMs and pools ---------------------------------------------------- */

/* Of the newest inventory, which there must be. The member "hosts", "vms" or "pools" of the object that is
 * open, by the request's kind: each with demand and entitlement, by name (base/natural.h). */
void reply_cluster_put(struct json_writer *w, const struct engine *e, enum request_kind kind);

/* "waking": the method that is being tried to wake the host, and why not another; null: none is. */
void reply_cluster_put_waking(struct json_writer *w, const struct engine *e, const char *host);

#endif
