/* own_use.h: what each host uses itself, learned from what it uses in all and what its VMs do.
 *
 * A look teaches only if every VM of the host has figures of that look, none came, went or started since the
 * look before, and no copy runs there: otherwise the two were not measured over the same time. Until the next
 * such look the last value stands, with its time. The windows are those of a VM (demand_history.h); their
 * samples are stored with those of VMs. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_OWN_USE_H
#define BALLAST_ENGINE_KNOWLEDGE_OWN_USE_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops own_use_ops;

#endif
