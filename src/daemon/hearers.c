#include "daemon/hearers.h"

#include "daemon/journal.h"

static const struct hearers *of(struct outlet *o)
{
    return (const struct hearers *)o;
}

static void publish(struct outlet *o, const struct event *ev)
{
    journal_outlet.publish(of(o)->journal, ev);
    consoles_hear(of(o)->consoles, ev);
}

static int keep(struct outlet *o, struct err *err)
{
    return journal_outlet.keep(of(o)->journal, err);
}

static void kept(struct outlet *o)
{
    journal_outlet.kept(of(o)->journal);
}

const struct outlet_ops hearers_outlet = {.publish = publish, .keep = keep, .kept = kept};
