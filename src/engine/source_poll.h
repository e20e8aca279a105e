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
    instant_s next_ask;  /* not before this, after a failure */
    instant_s next_look; /* an inventory is wanted by then */
};

/* Wants an inventory by that time. */
void source_poll_want(struct engine *e, instant_s at);
instant_s source_poll_period_s(const struct engine *e); /* between two inventories */
/* Older data than this is not acted on. */
instant_s source_poll_stale_after_s(const struct engine *e);

/* Asks for an inventory, if it is time. */
void source_poll_ask(struct engine *e, instant_s now);
/* A collector has its own time limit; should it hang all the same, that is said. */
void source_poll_notice_silence(struct engine *e, instant_s now);
/* The answer: an inventory that can be used, or why there is none. */
void source_poll_worked(struct engine *e, instant_s now);
void source_poll_failed(struct engine *e, const struct err *why, instant_s now);
/* After new settings: a source that is lost is asked at once. */
void source_poll_reconfigured(struct engine *e, instant_s now);
/* When something is due here next. */
instant_s source_poll_wakeup(const struct engine *e, instant_s now);

#endif
