/* knowledge.h: what the engine remembers beyond the newest inventory, piece by piece, and all by one table.
 *
 * A piece of knowledge has an opaque struct and a header of its own. The engine calls all of them in the same
 * way and order (knowledge.c): before a snapshot is built each puts into the inventory what the source does
 * not say; after that each learns from the snapshot; what has changed is stored, and read back after a
 * restart.
 *
 * To add one: a member below, a line in the table of knowledge.c, a file that fills struct knowledge_ops. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_KNOWLEDGE_H
#define BALLAST_ENGINE_KNOWLEDGE_KNOWLEDGE_H

#include "base/idmap.h"
#include "engine/engine.h"

struct knowledge {
    struct vm_demand *vms;
    struct migration_stats *migrations;
    struct hosts *hosts;
    struct own_use_pieces *own_use;
    struct load_clock *loads;
    struct cluster_demand *cluster;
    struct energy *energy;
    struct meters *meters;
    struct identities *identities;
    struct known_pool_settings *pools;
    struct failed_moves *failed_moves;
    struct host_outages *outages;
    struct nights *nights;
    struct start_keys *starts;
    struct unit_failures *units;
    struct vm_stops *stops;
};

/* A wake of ours that has not ended. */
struct wake_under_way {
    const char *host; /* id */
    enum reason reason;
    bool asked; /* the actuators were */
};

/* What the pieces are told along with an inventory. */
struct knowledge_context {
    struct engine *engine; /* for events_publish() */
    const struct engine_settings *settings;
    const struct knowledge *known;       /* the pieces before this one have seen the inventory already */
    const struct inventory *inventory;   /* observe(): what the snapshot was built from */
    const struct snapshot *before;       /* of the inventory before; NULL: there was none */
    instant_s look_period_s;             /* between two inventories */
    const struct wake_under_way *waking; /* by our own actions */
    size_t n_waking;
};

/* The state of a piece that knows an entry for each id begins with this. */
struct known_map {
    bool dirty; /* an entry is */
    struct idmap of;
};

/* What each entry that is stored begins with. */
struct known_entry {
    bool dirty; /* not stored yet as it is */
    bool gone;  /* to be forgotten by the store, and then here */
};

/* The entry has changed and is to be stored. */
void knowledge_touch(struct known_map *map, struct known_entry *entry);

/* Of one piece. NULL where it has nothing to do, or where its state is a struct known_map and nothing but the
 * entries has to be made, stored or freed. */
struct knowledge_ops {
    size_t size; /* of the state, which is zeroed at first; or create() */
    void *(*create)(void);
    void (*release)(void *piece);
    void (*entry_free)(void *entry);
    /* Puts the entry into the store, or forgets it there. */
    int (*entry_persist)(const char *key, const void *entry, const struct store_ops *ops, struct store *s,
                         struct err *err);
    /* The settings stay where they are until the next call. */
    void (*configure)(void *piece, const struct engine_settings *settings);
    /* Puts what is known into an inventory that does not say it. */
    void (*fill)(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a);
    /* Learns from a new snapshot, which was checked; what is expected of the future goes into it. */
    void (*observe)(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a);
    /* NULL: the state begins with a bool that tells. */
    bool (*is_dirty)(const void *piece);
    /* Puts what is not stored yet, within a transaction; stored() is called once that is durable. */
    int (*persist)(const void *piece, const struct store_ops *ops, struct store *s, struct err *err);
    void (*stored)(void *piece);
    /* After a restart. disown(): what stands in the store is of another source. */
    void (*recall)(void *piece, const struct stored *s, instant_s now);
    void (*disown)(void *piece, struct engine *e, const struct stored *s, instant_s now);
    /* Instead of disown(), where each entry is a note: this and its key. entry_make() gives one, new or not.
     */
    const char *note_prefix;
    void *(*entry_make)(void *piece, const char *key);
    /* Drops what is too old to be kept. */
    void (*forget)(void *piece, const struct retention *keep, instant_s now);
};

/* One piece by itself. */
void *knowledge_piece_new(const struct knowledge_ops *piece);
void knowledge_piece_free(const struct knowledge_ops *piece, void *state);
bool knowledge_piece_is_dirty(const struct knowledge_ops *piece, const void *state);
int knowledge_piece_persist(const struct knowledge_ops *piece, const void *state, const struct store_ops *ops,
                            struct store *s, struct err *err);
void knowledge_piece_stored(const struct knowledge_ops *piece, void *state);

/* All pieces. */
struct knowledge *knowledge_new(void);
void knowledge_free(struct knowledge *k);
void knowledge_configure(struct knowledge *k, const struct engine_settings *settings);
void knowledge_fill(struct knowledge *k, const struct knowledge_context *c, struct inventory *inv,
                    struct arena *a);
void knowledge_observe(struct knowledge *k, const struct knowledge_context *c, struct snapshot *s,
                       struct arena *a);
bool knowledge_is_dirty(const struct knowledge *k);
int knowledge_persist(const struct knowledge *k, const struct store_ops *ops, struct store *s,
                      struct err *err);
void knowledge_stored(struct knowledge *k);
void knowledge_recall(struct knowledge *k, const struct stored *s, instant_s now);
void knowledge_disown(struct knowledge *k, struct engine *e, const struct stored *s, instant_s now);
void knowledge_forget(struct knowledge *k, const struct retention *keep, instant_s now);

#endif
