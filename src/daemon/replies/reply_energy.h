/* reply_energy.h: the hosts' present power and the energy account, as JSON. README.md has the fields. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_ENERGY_H
#define BALLAST_DAEMON_REPLIES_REPLY_ENERGY_H

#include "base/json_writer.h"
#include "engine/engine.h"
#include "request/request.h"

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

#endif
