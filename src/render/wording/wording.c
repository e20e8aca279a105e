/* Which file says what, and the parts that their sentences share. */
#include "render/wording/sentence.h"

#include "base/rfc3339.h"

#define MHZ_PER_GHZ 1000.0
#define MB_PER_GB 1024.0

uint32_t wording_subject(const struct sentence *w, enum finding_subject name)
{
    for (int i = 0; i < FINDING_SUBJECTS_MAX; i++)
        if (w->f->subjects[i].name == name)
            return w->f->subjects[i].ix;
    return IX_NONE;
}

const char *wording_name(const struct sentence *w, enum finding_subject name)
{
    uint32_t ix = wording_subject(w, name);

#define SUBJECT_NAME(e, member, of)                                                                          \
    case e:                                                                                                  \
        return w->snap->of[ix].is.name;
    switch (ix == IX_NONE ? SUBJECT_END : name) {
        FINDING_SUBJECTS(SUBJECT_NAME)
    case SUBJECT_END:
    case finding_subject_count:
        break;
    }
    return "?";
}

double wording_figure(const struct sentence *w, enum finding_figure name)
{
    for (int i = 0; i < FINDING_FIGURES_MAX; i++)
        if (w->f->figures[i].name == name)
            return w->f->figures[i].value;
    return UNKNOWN;
}

bool wording_has(const struct sentence *w, enum finding_figure name)
{
    return !isnan(wording_figure(w, name));
}

uint32_t wording_count(const struct sentence *w, enum finding_figure name)
{
    return (uint32_t)wording_figure(w, name);
}

const char *wording_mhz(const struct sentence *w, enum finding_figure name)
{
    double mhz = wording_figure(w, name);

    return mhz >= MHZ_PER_GHZ ? arena_printf(w->a, "%.1f GHz", mhz / MHZ_PER_GHZ)
                              : arena_printf(w->a, "%.0f MHz", mhz);
}

const char *wording_mb(const struct sentence *w, enum finding_figure name)
{
    double mb = wording_figure(w, name);

    return mb >= MB_PER_GB ? arena_printf(w->a, "%.1f GiB", mb / MB_PER_GB)
                           : arena_printf(w->a, "%.0f MiB", mb);
}

const char *wording_amount(const struct sentence *w, enum finding_figure name)
{
    return w->f->resource == RES_CPU ? wording_mhz(w, name) : wording_mb(w, name);
}

const char *wording_seconds(const struct sentence *w, enum finding_figure name)
{
    int64_t whole = (int64_t)llround(wording_figure(w, name));
    const int64_t minute = (int64_t)SECONDS_PER_MINUTE;

    if (whole < minute)
        return arena_printf(w->a, "%lld s", (long long)whole);
    if (whole % minute == 0)
        return arena_printf(w->a, "%lld min", (long long)(whole / minute));
    return arena_printf(w->a, "%lld min %lld s", (long long)(whole / minute), (long long)(whole % minute));
}

const char *wording_instant(const struct sentence *w, enum finding_figure name)
{
    return rfc3339_format((instant_s)wording_figure(w, name), arena_array(w->a, char, RFC3339_MAX));
}

const char *wording_resource(const struct sentence *w)
{
    return w->f->resource == RES_CPU ? "CPU" : "memory";
}

const char *wording_host_state(const struct sentence *w, enum finding_subject name)
{
    switch (w->snap->hosts[wording_subject(w, name)].is.state) {
    case HOST_ON:
        return "about to be switched off or serviced";
    case HOST_MAINTENANCE:
        return "in maintenance";
    case HOST_ENTERING_MAINTENANCE:
        return "entering maintenance";
    case HOST_STANDBY:
        return "in standby";
    case HOST_ENTERING_STANDBY:
        return "entering standby";
    case HOST_POWERING_ON:
        return "being woken";
    case HOST_DISCONNECTED:
        return "not seen";
    case host_state_count:
        break;
    }
    return "?";
}

const char *wording_sentence(struct arena *a, const char *phrase)
{
    return arena_printf(a, "%c%s.", phrase[0] >= 'a' && phrase[0] <= 'z' ? phrase[0] - 'a' + 'A' : phrase[0],
                        phrase + 1);
}

const char *wording_because(const struct sentence *w)
{
    return wording_text(w->snap, w->f->because, w->a);
}

const char *wording_text(const struct snapshot *snap, const struct finding *f, struct arena *a)
{
    static const char *(*const kinds[])(const struct sentence *) = {
        wording_recommendation, wording_fault, wording_obstacle,
        wording_check,          wording_power, wording_explanation,
    };
    const struct sentence w = {.snap = snap, .f = f, .a = a};
    const char *text = NULL;

    for (size_t i = 0; f && !text && i < sizeof kinds / sizeof *kinds; i++)
        text = kinds[i](&w);
    return text;
}
