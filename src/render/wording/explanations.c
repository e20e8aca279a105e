/* What is said, as a whole, of a VM or a host that somebody asks about. */
#include "render/wording/sentence.h"

static const char *stays(const struct sentence *w)
{
    const char *vm = wording_name(w, SUBJECT_VM);
    const char *host = wording_name(w, SUBJECT_HOST);

    if (w->f->code == FIND_ON_NO_HOST)
        return arena_printf(w->a, "%s is on no host: %s.", vm, check_meaning(w->f->check));
    if (w->f->code == FIND_STAYS_ALONE)
        return arena_printf(w->a, "%s stays on %s: there is no other host.", vm, host);
    return arena_printf(w->a, "%s stays on %s. What decided most often: %s.", vm, host,
                        check_meaning(w->f->check));
}

static const char *dpm_off(const struct sentence *w)
{
    const struct host_facts *h = &w->snap->hosts[wording_subject(w, SUBJECT_HOST)].is;
    const char *off = wording_sentence(w->a, power_check_meaning(POWER_DPM_OFF));

    return h->state == HOST_STANDBY
               ? arena_printf(w->a, "%s %s sleeps until somebody wakes it.", off, h->name)
               : off;
}

const char *wording_explanation(const struct sentence *w)
{
    switch ((int)w->f->code) { /* only those of explanations */
    case FIND_OFF_HERE:
        return "The VM is here, and does not run.";
    case FIND_ON_NO_HOST:
    case FIND_STAYS_ALONE:
    case FIND_STAYS:
        return stays(w);
    case FIND_DPM_OFF:
        return dpm_off(w);
    default:
        return NULL;
    }
}
