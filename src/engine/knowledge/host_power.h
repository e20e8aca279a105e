/* host_power.h: what every host draws, and what its VMs lack. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_HOST_POWER_H
#define BALLAST_ENGINE_KNOWLEDGE_HOST_POWER_H

#include "engine/knowledge/energy_account.h"

enum energy_phase host_power_phase(enum host_state state);

/* The same of a host of the inventory: some sources show a host that boots as one that sleeps, so a wake that
 * was asked for counts as a boot. */
enum energy_phase host_power_phase_of(const struct knowledge_context *c, const char *host,
                                      enum host_state state);

/* Of all hosts, by index of the snapshot; the account learns the scales of meters on the way. In the arena.
 */
struct energy_sample *host_power_sample(struct energy *account, const struct knowledge_context *c,
                                        const struct snapshot *s, struct arena *a);

#endif
