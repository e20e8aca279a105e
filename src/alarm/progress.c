/* progress.c: positions, pauses and the end of patience. */
#include "alarm/progress.h"

bool alarm_progress_is_under_way(const struct alarm_progress *p)
{
    return p->first_tried != 0;
}

void alarm_progress_begin_events(struct alarm_progress *p, uint64_t upto, instant_s now)
{
    p->upto = upto;
    p->first_tried = now;
}

void alarm_progress_begin_digest(struct alarm_progress *p, instant_s until, instant_s now)
{
    p->digest_until = until;
    p->first_tried = now;
}

/* The message under way is over, well or not. */
static void end_message(struct alarm_progress *p)
{
    if (p->upto > p->position)
        p->position = p->upto;
    if (p->digest_until != 0)
        p->digested = p->digest_until;
    p->upto = 0;
    p->digest_until = 0;
    p->first_tried = 0;
}

bool alarm_progress_delivered(struct alarm_progress *p, instant_s now)
{
    bool told = p->told;

    end_message(p);
    p->delivered++;
    p->delivered_at = now;
    p->failures = 0;
    p->failing = 0;
    p->next = 0;
    p->told = false;
    return told;
}

/* 5, 10, 20 ... 600 s. */
static int64_t pause_s(unsigned failures)
{
    int64_t pause = ALARM_PAUSE_FIRST_S;

    for (unsigned i = 1; i < failures && pause < ALARM_PAUSE_MAX_S; i++)
        pause *= 2;
    return pause < ALARM_PAUSE_MAX_S ? pause : ALARM_PAUSE_MAX_S;
}

enum alarm_failure alarm_progress_failed(struct alarm_progress *p, bool refused, int64_t retry_after_s,
                                         instant_s now)
{
    int64_t pause;

    p->failures++;
    p->attempts_failed++;
    if (p->failing == 0)
        p->failing = now;
    pause = pause_s(p->failures);
    if (retry_after_s > pause)
        pause = retry_after_s < ALARM_RETRY_AFTER_MAX_S ? retry_after_s : ALARM_RETRY_AFTER_MAX_S;
    p->next = now + pause;
    if (now - p->first_tried >= (refused ? ALARM_REFUSED_S : ALARM_GIVE_UP_S)) {
        end_message(p);
        p->given_up++;
        p->told = true;
        return ALARM_FAILS_GIVEN_UP;
    }
    if (!p->told && now - p->failing >= ALARM_TELL_S) {
        p->told = true;
        return ALARM_FAILS_TELL;
    }
    return ALARM_FAILS;
}

void alarm_progress_retry(struct alarm_progress *p)
{
    p->failures = 0;
    p->next = 0;
}

void alarm_progress_skip(struct alarm_progress *p, uint64_t id)
{
    if (p->position < id)
        p->position = id;
    if (p->upto != 0 && p->upto <= p->position) {
        p->upto = 0;
        p->first_tried = 0;
    }
}

json_t *alarm_progress_json(const struct alarm_progress *p)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "position", (json_int_t)p->position, "upto",
                     (json_int_t)p->upto, "first_tried", (json_int_t)p->first_tried, "digest_until",
                     (json_int_t)p->digest_until, "digested", (json_int_t)p->digested, "failing",
                     (json_int_t)p->failing, "told", (int)p->told);
}

bool alarm_progress_read(const json_t *from, uint64_t last, instant_s now, struct alarm_progress *ret)
{
    json_int_t position = 0, upto = 0, tried = 0, until = 0, digested = 0, failing = 0;
    int told = 0; /* as `failing`, not stored by the first versions */

    if (json_unpack((json_t *)(uintptr_t)from, "{s:I, s:I, s:I, s:I, s:I, s?I, s?b}", "position", &position,
                    "upto", &upto, "first_tried", &tried, "digest_until", &until, "digested", &digested,
                    "failing", &failing, "told", &told) < 0 ||
        position < 0 || upto < 0 || tried < 0 || until < 0 || digested < 0 || failing < 0)
        return false;
    *ret = (struct alarm_progress){.position = (uint64_t)position < last ? (uint64_t)position : last,
                                   .upto = (uint64_t)upto,
                                   .first_tried = tried < now ? tried : now,
                                   .digest_until = until,
                                   .digested = digested,
                                   .failing = failing < now ? failing : now,
                                   .told = told != 0};
    if (ret->upto <= ret->position || ret->upto > last)
        ret->upto = 0;
    if (ret->upto == 0 && ret->digest_until == 0)
        ret->first_tried = 0;
    else if (ret->first_tried == 0)
        ret->first_tried = now;
    return true;
}
