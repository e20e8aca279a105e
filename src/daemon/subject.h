/* subject.h: the VM or host that a filter of `history` or `events` names. */
#ifndef BALLAST_DAEMON_SUBJECT_H
#define BALLAST_DAEMON_SUBJECT_H

#include "engine/engine.h"
#include "request/request.h"

/* Replaces the names in q->vm and q->host by ids: of the inventory, else of what is stored, because a VM that
 * was deleted keeps its history. -EINVAL and a sentence: not known, or the name is ambiguous. */
int subject_resolve(const struct engine *e, struct store *store, struct request *q, struct err *err);

#endif
