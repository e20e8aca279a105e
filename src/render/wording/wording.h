/* wording.h: findings in English.
 *
 * Core says what it found as data (struct finding); here, and nowhere else, it becomes a sentence that an
 * admin can judge. The command, the service, MQTT and the expected files of the scenarios all ask here, so
 * that the same finding reads the same everywhere. */
#ifndef BALLAST_RENDER_WORDING_H
#define BALLAST_RENDER_WORDING_H

#include <ballast/arena.h>
#include <ballast/plan.h>

/* One or more whole sentences, in the arena. snap: the one that the finding was made from; the names are its.
 * NULL for no finding. */
const char *wording_text(const struct snapshot *snap, const struct finding *f, struct arena *a);

/* What oVirt's engine says of it: of a refusal by a filter of its policies. NULL: it says nothing. */
const char *wording_of_ovirt(const struct snapshot *snap, const struct finding *f, struct arena *a);

/* Whether the sentences of two findings differ in their figures, and in SUBJECT_HOST, only. */
bool wording_alike(const struct snapshot *snap, const struct finding *f, const struct finding *g,
                   struct arena *a);

/* One text for n findings that are alike: "each host" instead of the host, and the range of each figure. */
const char *wording_text_of_all(const struct snapshot *snap, const struct finding *const *all, size_t n,
                                struct arena *a);

#endif
