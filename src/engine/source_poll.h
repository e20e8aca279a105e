/* source_poll.h: when the cluster is looked at, and whether it can be. */
#ifndef BALLAST_ENGINE_SOURCE_POLL_H
#define BALLAST_ENGINE_SOURCE_POLL_H

#include "engine/engine.h"

struct source_poll {
    enum source_state state;
    instant_s since;
    struct err error;
    unsigned failures;   /* in a row */
    bool asking;         /* for an inventory */
    bool asked_for_pass; /* the inventory under way is for a pass */
    uint64_t asked_run;  /* runs up to this ticket are answered by it */
    uint64_t serial;     /* of the newest question */
    instant_s asked_at;
    instant_s next_ask;      /* not before this, after a failure */
    instant_s next_look;     /* an inventory is wanted by then */
    instant_s took;          /* what the last collection took */
    bool changed;            /* the source reported a change after the newest question ... */
    instant_s changed_at;    /* ... first at this time */
    bool asked_for_change;   /* it had reported one before the newest question */
    bool changed_since_pass; /* or one that the last pass cannot know of */
};

/* Wants an inventory by that time. */
void source_poll_want(struct engine *e, instant_s at);
instant_s source_poll_period_s(const struct engine *e); /* between two inventories */
/* Older data than this is not acted on. */
instant_s source_poll_stale_after_s(const struct engine *e);

/* The source reports a change: an inventory is wanted SOURCE_SETTLE_S later, when the rest of what belongs to
 * it has happened. Storms of changes and slow sources are looked at less often: a look for a change begins
 * SOURCE_CHANGE_GAP_S after the last one at the earliest, or SOURCE_CHANGE_SHARE times of what that took. */
void source_poll_changed(struct engine *e, instant_s now);

#define SOURCE_SETTLE_S 1
#define SOURCE_CHANGE_GAP_S 10
#define SOURCE_CHANGE_SHARE 5

/* Asks for an inventory, if it is time. */
void source_poll_ask(struct engine *e, instant_s now);
/* A collector has its own time limit; should it hang all the same, that is said. */
void source_poll_notice_silence(struct engine *e, instant_s now);
/* The inventory that was asked for is there; the next is wanted after the usual time. */
void source_poll_answered(struct engine *e, instant_s now);
/* A pass was made of it. */
void source_poll_decided(struct engine *e);
/* Whether that inventory can be used, or why not. */
void source_poll_worked(struct engine *e, instant_s now);
void source_poll_failed(struct engine *e, const struct err *why, instant_s now);
/* After new settings: a source that is lost is asked at once. */
void source_poll_reconfigured(struct engine *e, instant_s now);
/* When something is due here next. */
instant_s source_poll_wakeup(const struct engine *e, instant_s now);

#endif
