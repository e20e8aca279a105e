/* persist.h: what outlives a restart, written as transactions and read back once. */
#ifndef BALLAST_ENGINE_PERSIST_H
#define BALLAST_ENGINE_PERSIST_H

#include "engine/ports.h"

struct engine;
struct observation;

struct persist {
    struct migration_record *migrations; /* not stored yet; strings their own */
    size_t n_migrations, cap_migrations;
    bool notes_dirty;  /* whether the service is paused, its source, its roll of maintenance and the requests
                        * that wait for a second person are not stored yet */
    bool events_dirty; /* something was published that the event sink has not kept yet */
    struct err error;  /* code 0: the store works */
    unsigned failures; /* in a row */
    instant_s retry_at;
    instant_s next_prune;
    instant_s pruned;    /* what was too old then was dropped; 0: not yet */
    instant_s last_look; /* time of the last look that was stored; 0: none by this process */
};

/* Writes what is not stored yet, as one transaction. 0 when nothing is left; on failure it is tried again
 * later, and not before. `pass` may be NULL. */
int persist_flush(struct engine *e, const struct pass_record *pass, instant_s now);
/* Of a new snapshot, at once and in a transaction of their own: each VM's demand, and what is kept of the
 * look (look.h). */
void persist_samples(struct engine *e, const struct observation *v, const struct sample_record *samples,
                     size_t n, instant_s now);
int persist_load(struct engine *e, instant_s now, struct err *err);
void persist_prune(struct engine *e, instant_s now);
/* A migration that has ended, to be stored with the next transaction; copies. */
void persist_migration(struct engine *e, const struct migration_record *r);
void persist_free(struct persist *p);

#endif
