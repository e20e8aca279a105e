/* subject.h: the VM, host or pool that a filter of `history`, `events` or `series` names. */
#ifndef BALLAST_DAEMON_EVENTS_SUBJECT_H
#define BALLAST_DAEMON_EVENTS_SUBJECT_H

#include "engine/engine.h"
#include "request/request.h"

/* Replaces the names in q->vm, q->host and q->pool by ids: of the inventory, else of what is stored, because
 * a VM that was deleted keeps its history. -EINVAL and a sentence: not known, or the name is ambiguous;
 * -ENOENT: so is one in the path. */
int subject_resolve(const struct engine *e, struct store *store, struct request *q, struct err *err);

/* The code of an error about a VM or a host: -ENOENT where a wrong name (-EINVAL) stands in the path. */
int subject_refuse(int code, bool in_path, struct err *err);

#endif
