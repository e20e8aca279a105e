/* A finding's subjects and figures, for programs. */
#include "base/cleanup.h"
#include "model/refs.h"
#include "render/render.h"

#include "base/rfc3339.h"
#include "model/attributes.h"
#include "model/compatibility.h"
#include "model/expression.h"

#include <stdio.h>

#define MEMBER_MAX 40
#define MISSING_MAX 64 /* names listed; the figure missing_more counts all but the first */

/* How a figure's member is completed, or its value written. */
enum unit { PLAIN, AMOUNT, TIME };

#define SUBJECT_MEMBER(e, member, of) [e] = member,
#define FIGURE_MEMBER(e, member, unit) [e] = {member, unit},
static const char *const subject_members[] = {FINDING_SUBJECTS(SUBJECT_MEMBER)};
static const struct {
    const char *member;
    enum unit unit;
} figure_members[] = {FINDING_FIGURES(FIGURE_MEMBER)};

static const char *id_of(const struct snapshot *s, enum finding_subject name, uint32_t ix)
{
#define SUBJECT_ID(e, member, of)                                                                            \
    case e:                                                                                                  \
        return s->of[ix].is.id;
    switch (name) {
        FINDING_SUBJECTS(SUBJECT_ID)
    case SUBJECT_END:
    case finding_subject_count:
        break;
    }
    return NULL;
}

/* In the order of the lists, whatever order core found them in. */
static void put_subjects(struct json_writer *w, const struct snapshot *s, const struct finding *f)
{
    jw_begin(w, "subjects", JW_OBJECT, JW_INLINE);
    for (int name = SUBJECT_END + 1; name < finding_subject_count; name++)
        for (int i = 0; i < FINDING_SUBJECTS_MAX; i++)
            if ((int)f->subjects[i].name == name && f->subjects[i].ix != IX_NONE)
                jw_text(w, subject_members[name], id_of(s, f->subjects[i].name, f->subjects[i].ix));
    jw_end(w);
}

static void put_figure(struct json_writer *w, const struct finding *f, enum finding_figure name, double value)
{
    char time[RFC3339_MAX];
    char member[MEMBER_MAX];

    if (figure_members[name].unit == TIME) {
        jw_text(w, figure_members[name].member, rfc3339_format((instant_s)value, time));
        return;
    }
    (void)snprintf(member, sizeof member, "%s%s", figure_members[name].member,
                   figure_members[name].unit == PLAIN ? ""
                   : f->resource == RES_CPU           ? "_mhz"
                                                      : "_mb");
    jw_figure(w, member, value);
}

static void put_figures(struct json_writer *w, const struct finding *f)
{
    jw_begin(w, "figures", JW_OBJECT, JW_INLINE);
    for (int name = FIGURE_END + 1; name < finding_figure_count; name++)
        for (int i = 0; i < FINDING_FIGURES_MAX; i++)
            if ((int)f->figures[i].name == name && !isnan(f->figures[i].value))
                put_figure(w, f, f->figures[i].name, f->figures[i].value);
    jw_end(w);
}

/* All that the host does not offer of what the VM needs. */
static void put_missing(struct json_writer *w, const struct snapshot *s, const struct finding *f)
{
    uint32_t vm = finding_get_subject(f, SUBJECT_OTHER_VM);
    uint32_t host = finding_get_subject(f, SUBJECT_HOST);
    struct missing first[MISSING_MAX];

    if (f->check != CHECK_INCOMPATIBLE || vm == IX_NONE || host == IX_NONE)
        return;
    uint32_t n = compatibility_missing(&s->vms[vm].is, &s->hosts[host].is, first, MISSING_MAX);

    if (n == 0)
        return;
    jw_begin(w, "missing", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < n && i < MISSING_MAX; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "kind", offer_kind_name(first[i].kind));
        jw_text(w, "name", first[i].name);
        jw_end(w);
    }
    jw_end(w);
}

/* The external unit whose answer decides. */
static void put_unit(struct json_writer *w, const struct snapshot *s, const struct refusal *r)
{
    const struct unit_answer *x = r->answer;

    if (!r->unit)
        return;
    jw_begin(w, "external", JW_OBJECT, JW_INLINE);
    jw_text(w, "unit", r->unit);
    if (x) {
        jw_instant(w, "at", x->at);
        jw_int(w, "age_s", s->time > x->at ? s->time - x->at : 0);
        jw_text(w, "words", x->words);
        jw_text(w, "error", x->error);
    }
    jw_end(w);
}

/* The part of a stage's expression that decides, and what its variables are. */
static void put_refusal(struct json_writer *w, const struct snapshot *s, const struct refusal *r)
{
    const struct expression *x = &s->stages[r->stage].is.filter;
    CLEANUP(arena_releasep) struct arena a = {0};

    jw_begin(w, "filter", JW_OBJECT, JW_INLINE);
    expression_write_part(w, "expression", x, r->node);
    jw_begin(w, "values", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < r->n_values; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "variable", expression_variable_text(&x->nodes[r->values[i].node], &a));
        attributes_write_value(w, "value", &r->values[i].is);
        jw_end(w);
    }
    jw_end(w);
    jw_end(w);
    put_unit(w, s, r);
}

void render_stages_left(struct json_writer *w, const struct snapshot *s, const struct stage_left *left,
                        uint32_t n)
{
    jw_begin(w, "stages", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < n; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "stage", s->stages[left[i].stage].is.id);
        jw_int(w, "hosts", left[i].hosts);
        jw_end(w);
    }
    jw_end(w);
}

void render_sentence(struct json_writer *w, const char *key, const struct snapshot *snap,
                     const struct finding *f)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    jw_text(w, key, wording_text(snap, f, &a));
}

/* The members beside the sentence. */
static void put_particulars(struct json_writer *w, const struct snapshot *snap, const struct finding *f)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *words = wording_of_ovirt(snap, f, &a);

    put_subjects(w, snap, f);
    put_figures(w, f);
    put_missing(w, snap, f);
    if (f->refusal)
        put_refusal(w, snap, f->refusal);
    if (words)
        jw_text(w, "words", words);
    if (f->n_left > 0)
        render_stages_left(w, snap, f->left, f->n_left);
    if (f->peer)
        jw_text(w, "peer", f->peer);
    if (!f->because)
        return;
    jw_begin(w, "because", JW_OBJECT, JW_INLINE);
    if (f->because->check != CHECK_NONE)
        jw_text(w, "check", check_name(f->because->check));
    put_particulars(w, snap, f->because);
    jw_end(w);
}

void render_finding(struct json_writer *w, const char *key, const struct snapshot *snap,
                    const struct finding *f)
{
    render_sentence(w, key, snap, f);
    if (f)
        put_particulars(w, snap, f);
}
