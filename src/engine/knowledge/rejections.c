/* rejections.c: what a person rejected, as entries of what is not tried again. */
#include "engine/knowledge/rejections.h"

#include "base/rfc3339.h"
#include "base/texts.h"
#include "base/xalloc.h"
#include "engine/knowledge/avoid_entries.h"

#include <ballast/snapshot.h>

#include <stdio.h>
#include <string.h>

#define KEY_MAX 320

static const char of_reason[] = "\nrejected ";
static const char of_host[] = "\nhost ";

struct key {
    char subject[KEY_MAX], reason[KEY_MAX];
};

/* False: no later action is the like of this one. */
static bool make_key(const struct action_record *r, struct key *ret)
{
    bool power = r->kind == ACTION_POWER_ON || r->kind == ACTION_POWER_OFF;

    if ((!power && r->kind != ACTION_MIGRATE) || r->reason == REASON_ASKED || r->reason == REASON_PLACEMENT)
        return false;
    (void)snprintf(ret->reason, KEY_MAX, "%s%s", of_reason, reason_name(reason_purpose(r->reason)));
    return (size_t)snprintf(ret->subject, KEY_MAX, "%s%s", power ? of_host : "", power ? r->host : r->vm) <
           KEY_MAX;
}

const char *rejections_reason(const struct failure_record *r)
{
    return texts_after(of_reason, r->host);
}

const char *rejections_host(const struct failure_record *r)
{
    return texts_after(of_host, r->vm);
}

instant_s rejections_add(struct failed_moves *f, const struct action_record *r, instant_s for_s,
                         const char *by, instant_s now)
{
    struct key key;

    for_s = for_s == 0 ? f->policy->avoid.reject_s : for_s;
    if (for_s == 0 || r->pass == 0 || !make_key(r, &key))
        return 0;
    struct avoid_entry *x = avoid_entry_make(f, key.subject, key.reason);

    x->r.failed = now;
    x->r.until = for_s < RFC3339_LAST - now ? now + for_s : RFC3339_LAST;
    xalloc_set_text(&x->r.reason, by);
    return x->r.until;
}

instant_s rejections_find(const struct failed_moves *f, const struct action_record *r, instant_s now)
{
    struct key key;
    const struct avoid_entry *x = make_key(r, &key) ? avoid_entry_find(f, key.subject, key.reason) : NULL;

    return x && avoid_entry_holds(&x->r, now) ? x->r.failed : 0;
}

void rejections_tell(const struct action_record *r, const char *name, instant_s until, char *ret, size_t size)
{
    const enum reason purpose = reason_purpose(r->reason);
    char at[RFC3339_MAX];

    (void)snprintf(ret, size, "%s%s %s %s %s for this reason (%s)",
                   until == RFC3339_LAST ? "for ever" : "until ",
                   until == RFC3339_LAST ? "" : rfc3339_format(until, at),
                   r->kind == ACTION_MIGRATE ? "VM" : "host", name,
                   r->kind == ACTION_MIGRATE     ? "goes to no host"
                   : r->kind == ACTION_POWER_OFF ? "does not go to standby"
                                                 : "is not woken",
                   purpose == REASON_BALANCE_CPU ? "balance of load, or room" : reason_meaning(purpose));
}
