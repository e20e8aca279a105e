#include "daemon/outgoing.h"

int outgoing_open(const struct config *c, sd_event *loop, struct store *store, struct outgoing *ret,
                  struct err *err)
{
    int r = journal_open(store, &ret->journal, err);

    if (r < 0)
        return r;
    ret->following = following_new(store);
    return telling_start(c, loop, store, journal_last(ret->journal), &ret->telling, err);
}

void outgoing_go_on(struct outgoing *o, const struct engine *e, const struct config *c, instant_s now)
{
    telling_go_on(o->telling, e, journal_last(o->journal), now);
    telling_gone(o->telling,
                 journal_tidy(o->journal, c->history_days, c->history_events, telling_sent(o->telling), now));
}

const struct telling_status *outgoing_look(const struct outgoing *o, struct telling_status *ret)
{
    return telling_look(o->telling, journal_last(o->journal), ret) ? ret : NULL;
}

int outgoing_stop(struct outgoing *o, int64_t deadline_s)
{
    return telling_stop(o->telling, deadline_s);
}

void outgoing_release(struct outgoing *o)
{
    journal_free(o->journal);
    telling_free(o->telling);
    following_free(o->following);
}
