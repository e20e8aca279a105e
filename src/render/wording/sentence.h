/* sentence.h: what the files of wording/ share: parts of sentences, and the sentences by kind. */
#ifndef BALLAST_RENDER_WORDING_SENTENCE_H
#define BALLAST_RENDER_WORDING_SENTENCE_H

#include "render/wording/wording.h"

#define PERCENT 100.0
#define SECONDS_PER_MINUTE 60.0

/* A finding on its way to become a sentence. */
struct sentence {
    const struct snapshot *snap;
    const struct finding *f;
    struct arena *a;
};

/* ---- wording.c: parts ---- */

/* The index of the subject; IX_NONE: the finding has none of that name. */
uint32_t wording_subject(const struct sentence *w, enum finding_subject name);

/* Its name; "?" where there is none. */
const char *wording_name(const struct sentence *w, enum finding_subject name);

/* UNKNOWN: the finding has no figure of that name. */
double wording_figure(const struct sentence *w, enum finding_figure name);
bool wording_has(const struct sentence *w, enum finding_figure name);
uint32_t wording_count(const struct sentence *w, enum finding_figure name);

/* "2.0 GHz", "512 MiB"; an amount is of the finding's resource. */
const char *wording_mhz(const struct sentence *w, enum finding_figure name);
const char *wording_mb(const struct sentence *w, enum finding_figure name);
const char *wording_amount(const struct sentence *w, enum finding_figure name);

/* "12 min 30 s", and an instant as RFC 3339. */
const char *wording_seconds(const struct sentence *w, enum finding_figure name);
const char *wording_instant(const struct sentence *w, enum finding_figure name);

/* "CPU", "memory". */
const char *wording_resource(const struct sentence *w);

/* What a host that cannot receive VMs is: "in standby". */
const char *wording_host_state(const struct sentence *w, enum finding_subject name);

/* A phrase, such as a check's meaning, as a sentence: it begins with a capital and ends with a stop. */
const char *wording_sentence(struct arena *a, const char *phrase);

/* What is behind the finding, in its own sentences. */
const char *wording_because(const struct sentence *w);

/* ---- the sentences; NULL: the code is of another file ---- */

const char *wording_recommendation(const struct sentence *w); /* recommendations.c */
const char *wording_fault(const struct sentence *w);          /* faults.c */
const char *wording_obstacle(const struct sentence *w);       /* obstacles.c */
const char *wording_explanation(const struct sentence *w);    /* explanations.c */
const char *wording_check(const struct sentence *w);          /* checks.c */
const char *wording_power(const struct sentence *w);          /* power.c */

/* power.c: what is expected, for those that wake hosts for it. */
const char *wording_expected(const struct sentence *w);
const char *wording_load_then(const struct sentence *w);
const char *wording_fullest(const struct sentence *w);

#endif
