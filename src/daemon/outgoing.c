#include "daemon/outgoing.h"

int outgoing_open(struct store *store, struct outgoing *ret, struct err *err)
{
    int r = journal_open(store, &ret->journal, err);

    if (r < 0)
        return r;
    ret->following = following_new(store);
    return 0;
}

void outgoing_go_on(struct outgoing *o, const struct config *c, instant_s now)
{
    (void)journal_tidy(o->journal, c->history_days, c->history_events, UINT64_MAX, now); /* sent to nobody */
}

void outgoing_release(struct outgoing *o)
{
    journal_free(o->journal);
    following_free(o->following);
}
