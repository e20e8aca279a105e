/* client.c: answers to clients of any transport, and the list of those that wait. */
#include "daemon/clients/client.h"

#include <errno.h>
#include <string.h>

/* How many clients may stay, and what they do. */
static const struct {
    unsigned all, of_user;
    const char *doing;
} stays[client_stay_count] = {
    [CLIENT_STAY_RESULT] = {136, 120, "wait for a pass or a placement"},
    [CLIENT_STAY_DECISION] = {8, 4, "wait for a decision"},
    [CLIENT_STAY_EVENTS] = {64, 32, "follow events"},
};

/* One newline at the end. */
static struct shared_text *line_of(struct strbuf *text)
{
    while (text->len > 0 && text->text[text->len - 1] == '\n')
        text->len--;
    strbuf_puts(text, "\n");
    return shared_text_new(text);
}

uint64_t client_stop_waiting(struct client *c)
{
    struct client **at = &c->all->waiting;
    uint64_t ticket = c->ticket;

    if (ticket == 0)
        return 0;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    if (c->all->next_asked == c)
        c->all->next_asked = c->next;
    c->ticket = 0;
    return ticket;
}

void client_reply_shared(struct client *c, struct shared_text *text)
{
    (void)client_stop_waiting(c);
    c->ops->reply(c, text);
}

void client_reply(struct client *c, struct strbuf *text)
{
    struct shared_text *line = line_of(text);

    client_reply_shared(c, line);
    shared_text_unref(line);
}

void client_refuse(struct client *c, const struct err *err)
{
    (void)client_stop_waiting(c);
    c->ops->refuse(c, err);
}

void client_stream(struct client *c, struct strbuf *text)
{
    struct shared_text *line = line_of(text);

    c->ops->stream(c, line);
    shared_text_unref(line);
}

int client_may_stay(const struct client *c, enum client_stay why, struct err *err)
{
    /* viewers have a part of the places, and others find the rest free */
    const bool viewer = c->role == ROLE_VIEWER && why == CLIENT_STAY_DECISION;
    const unsigned part = viewer ? 2 : 1;
    unsigned all = 0;
    unsigned of_user = 0;

    if (why == CLIENT_STAY_EVENTS && !c->ops->stream)
        return err_set(err, -EINVAL, "\"follow\": this connection gives one reply to a request");
    for (const struct client *x = c->all->waiting; x; x = x->next) {
        if (x->why != why)
            continue;
        all += !viewer || x->role == ROLE_VIEWER;
        of_user += strcmp(x->who, c->who) == 0;
    }
    if (of_user >= stays[why].of_user / part)
        return err_set(err, -EUSERS,
                       "the service has too many clients: %u of %s %s already, the most for one user",
                       of_user, c->who, stays[why].doing);
    if (all >= stays[why].all / part)
        return err_set(err, -EUSERS, "the service has too many clients: %u %s already, the most at a time",
                       all, stays[why].doing);
    return 0;
}

void client_wait(struct client *c, enum client_stay why, uint64_t ticket)
{
    c->ticket = ticket;
    c->why = why;
    c->next = c->all->waiting;
    c->all->waiting = c;
    if (c->ops->waits)
        c->ops->waits(c);
}

/* `each` may reply, which ends the wait of its own client, and of others that have stopped reading. */
void client_each_waiting(struct clients *all, void (*each)(void *ctx, struct client *c, uint64_t ticket),
                         void *ctx)
{
    struct client *c = all->waiting;

    for (; c; c = all->next_asked) {
        all->next_asked = c->next;
        each(ctx, c, c->ticket);
    }
}
