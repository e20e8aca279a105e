/* four_eyes.h: the four-eyes rule: what the configuration chooses (four_eyes.actions) begins when two people
 * have asked for it.
 *
 * The first request is kept, in the store too, and answered with a sentence; the same request of another
 * person within four_eyes.within_s begins the action. Several people may have asked first, so that two
 * overlapping lists of recommendations begin when each of them has both.
 *   - Two requests of one person are one, whatever way they come: people are told apart by their names,
 *     without regard to case (engine_set_person()).
 *   - A request that names no person is refused.
 *   - A first approval is for the destination that was read (action_record.version), and for no other.
 *   - A first request counts no more when its person may not ask any more, when its time is over, when its
 * recommendation has ended, or when the configuration no longer chooses its action. Actions that the engine
 * approves by itself need no person. */
#ifndef BALLAST_ENGINE_FOUR_EYES_H
#define BALLAST_ENGINE_FOUR_EYES_H

#include "engine/engine.h"

struct four_eyes;

/* Room for the names of two people. */
#define FOUR_EYES_BY_MAX 160

/* A request of a person, once everything else has been checked. */
struct four_eyes_request {
    enum four_eyes_action action;
    const uint64_t *ids; /* FOUR_EYES_APPROVE; each is recommended, in this version (NULL: 1) */
    const uint32_t *versions;
    size_t n;
    const char *key;  /* else: equal for equal requests only */
    const char *what; /* else, for sentences: "put host esx-3 to standby" */
};

struct four_eyes *four_eyes_new(void);
void four_eyes_free(struct four_eyes *f); /* NULL is fine */

/* 0: it may begin, in the name of ret_by: one person where the rule does not apply, else two. Other results
 * come with a sentence: -ENOKEY: noted, and a second person has to ask; -EALREADY: this person has asked
 * already; -EPERM: the request names no person; -EUSERS: too many wait; -EIO: noted, but not stored. */
int four_eyes_agree(struct engine *e, const struct four_eyes_request *q, const char *by, instant_s now,
                    char ret_by[FOUR_EYES_BY_MAX], struct err *err);

/* Looks up again those who asked then, one or two people as in ret_by; the engine itself keeps its rights.
 * False: why says who may not act any more. */
bool four_eyes_may_still(const struct engine *e, const char *by, instant_s asked, char *why, size_t size);

/* Whether the configuration chooses the action. */
bool four_eyes_chosen(const struct engine *e, enum four_eyes_action action);

/* Forgets the first requests of this key (NULL: of any), because of what `by` asks for. False: there were
 * none. */
bool four_eyes_withdraw(struct engine *e, enum four_eyes_action action, const char *key, const char *by,
                        instant_s now);

/* Drops what counts no more. */
void four_eyes_expire(struct engine *e, instant_s now);
instant_s four_eyes_wakeup(const struct engine *e); /* when that is next; INT64_MAX: nothing waits */

/* As text for the store, in the arena; NULL: nothing waits. And back; NULL: nothing was stored. */
const char *four_eyes_text(const struct engine *e, struct arena *a);
void four_eyes_recall(struct engine *e, const char *text);

#endif
