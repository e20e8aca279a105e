/* vm_demand.h: what each VM wants, over the last hour. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_VM_DEMAND_H
#define BALLAST_ENGINE_KNOWLEDGE_VM_DEMAND_H

#include "engine/knowledge/demand_history.h"
#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops vm_demand_ops;

const struct demand_history *vm_demand_history(const struct vm_demand *d);
/* What was kept of the newest snapshot, in its memory: to be stored. */
const struct sample_record *vm_demand_kept(const struct vm_demand *d, size_t *ret_n);

#endif
