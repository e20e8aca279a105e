/* rejections.h: what a person rejected: moves of a VM, or standbys or wakes of a host, for one reason. Each
 * is an entry among those of failed_moves.h, in which marks that no id has stand for subject and reason. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_REJECTIONS_H
#define BALLAST_ENGINE_KNOWLEDGE_REJECTIONS_H

#include "engine/knowledge/failed_moves.h"

/* In place of a number of seconds. Such a rejection holds until the last instant that can be written. */
#define REJECT_FOR_EVER INT64_MAX

/* The subject does not do that again for the action's reason, a VM to no host, for so many seconds (0: for
 * avoid.reject_s). Returns until when, 0 where it is not remembered: because avoid.reject_s is 0, or an admin
 * had asked for the action. */
instant_s rejections_add(struct failed_moves *f, const struct action_record *r, instant_s for_s,
                         const char *by, instant_s now);

/* When the like of this action was last rejected, if that still holds; 0: no. */
instant_s rejections_find(const struct failed_moves *f, const struct action_record *r, instant_s now);

/* What the action's end says of a rejection, after who it was: the subject, what is not done, until when. */
void rejections_tell(const struct action_record *r, const char *name, instant_s until, char *ret,
                     size_t size);

/* The reason's word, and the id of the host, of an entry; NULL: it is none, or of a VM. They point into it.
 */
const char *rejections_reason(const struct failure_record *r);
const char *rejections_host(const struct failure_record *r);

#endif
