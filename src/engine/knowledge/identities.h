/* identities.h: whether the controllers of each host are known to be those of its machine, as they last said.
 *
 * They are asked when the host is first seen, daily while all is well, hourly while it is not, and after
 * growing pauses while they do not answer. What stands in the way goes into the inventory, where passes see
 * it. What a person confirmed is kept by hosts.h. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_IDENTITIES_H
#define BALLAST_ENGINE_KNOWLEDGE_IDENTITIES_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops identities_ops;

/* Asks controllers that are due. s: the newest inventory, or NULL. */
void identities_ask(struct identities *all, const struct hosts *hosts, const struct engine_ports *port,
                    const struct snapshot *s, instant_s now);
/* False: the answer does not count, as the question was not asked by the present settings. */
bool identities_result(struct identities *all, const struct job *job, const struct job_result *result,
                       instant_s now);

/* For a request to the actuators; the texts are valid until the next inventory. */
struct machine_identity identities_machine(const struct identities *all, const struct hosts *hosts,
                                           const char *host);
/* A controller of the host failed, or refused: a fault until it answers again, which is soon tried. */
void identities_failed(struct identities *all, const char *host, const struct err *why, instant_s now);
/* -EPERM if the controllers, as they last answered, must not switch the host off; they are soon asked again.
 */
int identities_check(struct identities *all, const struct hosts *hosts, const char *host, struct err *err);
/* A person confirmed what the controllers last reported. */
void identities_confirmed(struct identities *all, const char *host);
void identities_get(const struct identities *all, const struct hosts *hosts, const char *host,
                    struct engine_identity *ret);

#endif
