/* inflight.c: which message is published next, and which again after a lost connection. It sends
 * nothing itself. */
#include "mqtt/inflight.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum item_state { ITEM_WAITS, ITEM_SENT, ITEM_OVER, ITEM_KEPT };

struct item {
    struct item *next;
    uint64_t event;
    char *topic, *payload;
    enum item_state state;
    int mid;
    bool newer;      /* a state: a newer payload came before the answer */
    int64_t refused; /* an event that is kept: when it was refused first */
};

struct inflight {
    struct item *first, *last; /* events */
    struct item *states;       /* in the order of their first appearance */
    struct item *refused;      /* events that the broker refused, the oldest first */
    size_t n_refused;
    struct item *offered; /* by inflight_next() */
    uint64_t last_id, over;
    size_t n_events, n_sent;
    char *answered_topic, *answered_payload;
};

struct inflight *inflight_new(void)
{
    return xcalloc(1, sizeof(struct inflight));
}

static void item_free(struct item *i)
{
    free(i->topic);
    free(i->payload);
    free(i);
}

static void list_free(struct item *i)
{
    for (struct item *next; i; i = next) {
        next = i->next;
        item_free(i);
    }
}

void inflight_free(struct inflight *o)
{
    if (!o)
        return;
    list_free(o->first);
    list_free(o->states);
    list_free(o->refused);
    free(o->answered_topic);
    free(o->answered_payload);
    free(o);
}

static struct item *item_new(uint64_t event, const char *topic, const char *payload)
{
    struct item *i = xcalloc(1, sizeof *i);

    i->event = event;
    i->topic = xstrdup(topic);
    i->payload = xstrdup(payload);
    return i;
}

void inflight_add_event(struct inflight *o, uint64_t id, const char *topic, const char *payload)
{
    if (id <= o->last_id)
        return;
    struct item *i = item_new(id, topic, payload);

    if (o->last)
        o->last->next = i;
    else
        o->first = i;
    o->last = i;
    o->last_id = id;
    o->n_events++;
}

void inflight_set_state(struct inflight *o, const char *topic, const char *payload)
{
    struct item **at = &o->states;

    while (*at && strcmp((*at)->topic, topic) != 0)
        at = &(*at)->next;
    if (!*at) {
        *at = item_new(0, topic, payload);
        return;
    }
    xstrset(&(*at)->payload, payload);
    if ((*at)->state == ITEM_SENT)
        (*at)->newer = true;
    else
        (*at)->state = ITEM_WAITS;
}

static struct item *first_waiting(struct item *i)
{
    while (i && i->state != ITEM_WAITS)
        i = i->next;
    return i;
}

bool inflight_next(struct inflight *o, struct queued_message *ret)
{
    o->offered = NULL;
    if (o->n_sent >= PUBLISH_WINDOW)
        return false;
    struct item *i = first_waiting(o->states);

    if (!i)
        i = first_waiting(o->first);
    if (!i)
        i = first_waiting(o->refused);
    if (!i)
        return false;
    o->offered = i;
    *ret = (struct queued_message){.event = i->event, .topic = i->topic, .payload = i->payload};
    return true;
}

void inflight_sent(struct inflight *o, int mid)
{
    struct item *i = o->offered;

    o->offered = NULL;
    if (!i)
        return;
    i->state = ITEM_SENT;
    i->mid = mid;
    i->newer = false;
    o->n_sent++;
}

static struct item *find_sent(struct item *i, int mid)
{
    while (i && (i->state != ITEM_SENT || i->mid != mid))
        i = i->next;
    return i;
}

/* Drops finished events from the front; a finished event behind an unfinished one stays. */
static void forget_over(struct inflight *o)
{
    while (o->first && o->first->state == ITEM_OVER) {
        struct item *i = o->first;

        o->over = i->event;
        o->first = i->next;
        if (!o->first)
            o->last = NULL;
        o->n_events--;
        item_free(i);
    }
}

/* A cleared state is not sent again. */
static void forget_state(struct inflight *o, struct item *i)
{
    struct item **at = &o->states;

    while (*at != i)
        at = &(*at)->next;
    *at = i->next;
    item_free(i);
}

/* ---- what was refused ------------------------------------------------------------------------ */

static void forget_refused(struct inflight *o, struct item *i)
{
    struct item **at = &o->refused;

    while (*at != i)
        at = &(*at)->next;
    *at = i->next;
    o->n_refused--;
    if (o->offered == i)
        o->offered = NULL;
    item_free(i);
}

static void keep_refused(struct inflight *o, const struct item *refused, int64_t now)
{
    struct item *i = item_new(refused->event, refused->topic, refused->payload);
    struct item **at = &o->refused;

    if (o->n_refused >= REFUSED_KEPT_MAX && o->refused->state != ITEM_SENT)
        forget_refused(o, o->refused);
    i->state = ITEM_KEPT;
    i->refused = now;
    while (*at)
        at = &(*at)->next;
    *at = i;
    o->n_refused++;
}

void inflight_retry_refused(struct inflight *o)
{
    for (struct item *i = o->refused; i; i = i->next) {
        if (i->state == ITEM_KEPT)
            i->state = ITEM_WAITS;
    }
}

size_t inflight_give_up_refused(struct inflight *o, int64_t before)
{
    size_t n = 0;

    for (struct item *i = o->refused, *next; i; i = next) {
        next = i->next;
        if (i->refused >= before || i->state == ITEM_SENT)
            continue;
        forget_refused(o, i);
        n++;
    }
    return n;
}

size_t inflight_refused_kept(const struct inflight *o)
{
    return o->n_refused;
}

/* ---- answers --------------------------------------------------------------------------------- */

static struct item *take_answered(struct inflight *o, int mid, struct queued_message *ret)
{
    struct item *i = find_sent(o->first, mid);

    if (!i)
        i = find_sent(o->states, mid);
    if (!i)
        i = find_sent(o->refused, mid);
    if (!i)
        return NULL;
    xstrset(&o->answered_topic, i->topic);
    xstrset(&o->answered_payload, i->payload);
    *ret = (struct queued_message){
        .event = i->event, .topic = o->answered_topic, .payload = o->answered_payload};
    o->n_sent--;
    return i;
}

static void end_message(struct inflight *o, struct item *i)
{
    if (i->refused != 0) {
        forget_refused(o, i);
        return;
    }
    i->state = i->newer ? ITEM_WAITS : ITEM_OVER;
    if (i->event != 0)
        forget_over(o);
    else if (i->state == ITEM_OVER && i->payload[0] == '\0')
        forget_state(o, i);
}

bool inflight_acknowledge(struct inflight *o, int mid, struct queued_message *ret)
{
    struct item *i = take_answered(o, mid, ret);

    if (i)
        end_message(o, i);
    return i != NULL;
}

bool inflight_refuse(struct inflight *o, int mid, int64_t now, struct queued_message *ret)
{
    struct item *i = take_answered(o, mid, ret);

    if (!i)
        return false;
    if (i->refused != 0) {
        i->state = ITEM_KEPT;
        return true;
    }
    if (i->event != 0)
        keep_refused(o, i, now);
    end_message(o, i);
    return true;
}

void inflight_drop_events(struct inflight *o, uint64_t id)
{
    for (struct item *i = o->first; i && i->event <= id; i = i->next) {
        if (i->state == ITEM_WAITS)
            i->state = ITEM_OVER;
    }
    o->offered = NULL;
    forget_over(o);
}

void inflight_connection_lost(struct inflight *o)
{
    for (struct item *i = o->first; i; i = i->next) {
        if (i->state == ITEM_SENT)
            i->state = ITEM_WAITS;
    }
    for (struct item *i = o->refused; i; i = i->next) /* the broker may have been told other rules */
        i->state = ITEM_WAITS;
    for (struct item *i = o->states; i; i = i->next) {
        i->state = ITEM_WAITS;
        i->newer = false;
    }
    o->n_sent = 0;
    o->offered = NULL;
}

uint64_t inflight_last_done(const struct inflight *o)
{
    return o->over;
}

size_t inflight_events(const struct inflight *o)
{
    return o->n_events;
}

size_t inflight_unacknowledged(const struct inflight *o)
{
    return o->n_sent;
}
