/* Makes sentences of the templates: which row, and what stands for its braces. The sentences themselves are
 * in templates.c. */
#include "render/wording/wording.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/rfc3339.h"
#include "base/strbuf.h"
#include "base/texts.h"
#include "model/attributes.h"
#include "model/compatibility.h"
#include "model/expression.h"
#include "model/named.h"
#include "render/wording/templates.h"

#include <stdio.h>
#include <string.h>

#define MHZ_PER_GHZ 1000.0
#define MB_PER_GB 1024.0
#define PERCENT 100.0
#define SECONDS_PER_MINUTE 60

#define NAME_MAX_LEN 64    /* of what stands in braces, or of a condition */
#define SENTENCE_MAX 16384 /* far more than any; what is behind a finding is part of it */

enum unit { PLAIN, AMOUNT, TIME };

/* What a name stands for. */
struct filling {
    enum { NO_SUCH_NAME, ABSENT, TEXT, NUMBER } kind;
    const char *text;
    double number;
    const char *form; /* how the number is written, unless the template says otherwise */
    uint32_t ix;      /* of a subject; IX_NONE otherwise */
};

static const struct filling no_such_name = {.kind = NO_SUCH_NAME, .ix = IX_NONE};
static const struct filling absent = {.kind = ABSENT, .ix = IX_NONE};

static struct filling text_value(const char *text)
{
    return text ? (struct filling){.kind = TEXT, .text = text, .ix = IX_NONE} : absent;
}

static struct filling number_value(double number, const char *form)
{
    return isnan(number) ? absent
                         : (struct filling){.kind = NUMBER, .number = number, .form = form, .ix = IX_NONE};
}

/* ---- subjects, and facts of them ---- */

static struct filling vms_fact(const struct sentence *w, uint32_t ix, const char *fact)
{
    const struct vm_facts *v = &w->snap->vms[ix].is;

    return strcmp(fact, "") == 0                 ? text_value(v->name)
           : strcmp(fact, "state") == 0          ? text_value(vm_state_name(v->state))
           : strcmp(fact, "kind") == 0           ? text_value(vm_kind_name(v->kind))
           : strcmp(fact, "kind_meaning") == 0   ? text_value(vm_kind_meaning(v->kind))
           : strcmp(fact, "vcpus") == 0          ? number_value(v->vcpus, "whole")
           : strcmp(fact, "sample_bad") == 0     ? text_value(v->sample_bad)
           : strcmp(fact, "immovable") == 0      ? text_value(v->immovable)
           : strcmp(fact, "mandatory_only") == 0 ? text_value(v->mandatory_only)
                                                 : no_such_name;
}

static struct filling hosts_fact(const struct sentence *w, uint32_t ix, const char *fact)
{
    const struct snapshot *s = w->snap;
    const struct host_facts *h = &s->hosts[ix].is;

    return strcmp(fact, "") == 0                   ? text_value(h->name)
           : strcmp(fact, "state") == 0            ? text_value(host_state_name(h->state))
           : strcmp(fact, "power_fault") == 0      ? text_value(h->power_fault)
           : strcmp(fact, "disconnected_why") == 0 ? text_value(h->disconnected_why)
           : strcmp(fact, "quarantine") == 0       ? text_value(h->quarantine ? "quarantine" : NULL)
           : strcmp(fact, "unhealthy") == 0
               ? text_value(h->failure_detection == FAILURE_DETECTION_UNHEALTHY ? "unhealthy" : NULL)
           : strcmp(fact, "failover") == 0 ? text_value(s->hosts[ix].failover ? "failover" : NULL)
           : strcmp(fact, "off_vms") == 0
               ? text_value(named_off_vms(s, ix, w->f->leave, &(uint32_t){0}, w->a))
           : strcmp(fact, "squeezes") == 0     ? number_value(host_squeezes_mb(s, ix), "mb")
           : strcmp(fact, "boot_s") == 0       ? number_value(h->boot_s, "duration")
           : strcmp(fact, "wake_tries_s") == 0 ? number_value(h->wake_tries_s, "duration")
                                               : no_such_name;
}

static struct filling pools_fact(const struct sentence *w, uint32_t ix, const char *fact)
{
    return *fact ? no_such_name : text_value(w->snap->pools[ix].is.name);
}

static const char *quoted_rule(const struct sentence *w, const struct rule_facts *rule)
{
    if (rule->origin == RULE_OF_SOURCE)
        return arena_printf(w->a, "\"%s\"", rule->name);
    return arena_printf(w->a, "\"%s\" (%s)", rule->name, rule_origin_name(rule->origin));
}

static struct filling rules_fact(const struct sentence *w, uint32_t ix, const char *fact)
{
    const struct snapshot *s = w->snap;

    return strcmp(fact, "") == 0            ? text_value(quoted_rule(w, &s->rules[ix].is))
           : strcmp(fact, "mandatory") == 0 ? text_value(s->rules[ix].is.mandatory ? "mandatory" : NULL)
                                            : no_such_name;
}

static struct filling stages_fact(const struct sentence *w, uint32_t ix, const char *fact)
{
    return *fact ? no_such_name : text_value(arena_printf(w->a, "\"%s\"", w->snap->stages[ix].is.id));
}

/* "vm", or "vm.state". */
static struct filling subject(const struct sentence *w, const char *name)
{
#define SUBJECT_ROW(e, member, of) {e, member, of##_fact},
    static const struct {
        enum finding_subject subject;
        const char *member;
        struct filling (*fact)(const struct sentence *, uint32_t, const char *);
    } rows[] = {FINDING_SUBJECTS(SUBJECT_ROW)};
    size_t len = strcspn(name, ".");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strncmp(rows[i].member, name, len) != 0 || rows[i].member[len])
            continue;
        for (int j = 0; j < FINDING_SUBJECTS_MAX; j++) {
            uint32_t ix = w->f->subjects[j].ix;
            if (w->f->subjects[j].name != rows[i].subject || ix == IX_NONE)
                continue;
            struct filling v = rows[i].fact(w, ix, name + len + (name[len] == '.'));
            v.ix = ix;
            return v;
        }
        return absent;
    }
    return no_such_name;
}

/* ---- figures ---- */

static const char *form_of(const char *member, enum unit unit, enum resource r)
{
    if (unit == TIME)
        return "instant";
    if (unit == AMOUNT)
        return r == RES_CPU ? "mhz" : "mb";
    return texts_end_with(member, "_mhz")     ? "mhz"
           : texts_end_with(member, "_mb")    ? "mb"
           : texts_end_with(member, "_mhz_s") ? "mhz_s"
           : texts_end_with(member, "_mb_s")  ? "mb_s"
           : texts_end_with(member, "_s")     ? "duration"
                                              : "whole";
}

static struct filling figure(const struct sentence *w, const char *name)
{
#define FIGURE_ROW(e, member, unit) {e, member, unit},
    static const struct {
        enum finding_figure figure;
        const char *member;
        enum unit unit;
    } rows[] = {FINDING_FIGURES(FIGURE_ROW)};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].member, name) != 0)
            continue;
        for (int j = 0; j < FINDING_FIGURES_MAX; j++)
            if (w->f->figures[j].name == rows[i].figure)
                return number_value(w->f->figures[j].value, form_of(name, rows[i].unit, w->f->resource));
        return absent;
    }
    return no_such_name;
}

/* "cpu_benefit_mhz_s/cpu_cost_mhz_s", "least_s-is_s": a figure of two; `len` characters are the first's name.
 */
static struct filling figure_of_two(const struct sentence *w, const char *name, size_t len)
{
    struct filling a = figure(w, arena_strndup(w->a, name, len));
    struct filling b = figure(w, name + len + 1);

    if (a.kind != NUMBER || b.kind != NUMBER)
        return a.kind == NO_SUCH_NAME || b.kind == NO_SUCH_NAME ? no_such_name : absent;
    return name[len] == '-' ? number_value(a.number - b.number, a.form)
           : strcmp(b.form, "duration") == 0 && strcmp(a.form, "mhz_s") == 0
               ? number_value(a.number / b.number, "mhz")
           : strcmp(b.form, "duration") == 0 && strcmp(a.form, "mb_s") == 0
               ? number_value(a.number / b.number, "mb")
               : number_value(a.number / b.number, "whole");
}

/* ---- words and phrases ---- */

/* The first name that a VM needs and the host does not offer. */
static struct filling first_not_offered(const struct sentence *w)
{
    struct filling vm = subject(w, "other_vm");
    struct filling host = subject(w, "host");
    struct missing first;

    if (vm.ix == IX_NONE || host.ix == IX_NONE ||
        compatibility_missing(&w->snap->vms[vm.ix].is, &w->snap->hosts[host.ix].is, &first, 1) == 0)
        return absent;
    return text_value(arena_printf(w->a, "%s \"%s\"", offer_kind_meaning(first.kind), first.name));
}

/* ---- pipelines ---- */

static const struct expression *refusing_filter(const struct sentence *w)
{
    const struct refusal *r = w->f->refusal;

    return r && r->stage < w->snap->n_stages ? &w->snap->stages[r->stage].is.filter : NULL;
}

/* The part of the expression that decides, as JSON. */
static struct filling refused_by(const struct sentence *w)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    const struct expression *x = refusing_filter(w);
    struct json_writer json = {.out = &out};

    if (!x)
        return absent;
    strbuf_init(&out, SENTENCE_MAX / 2);
    expression_write_part(&json, NULL, x, w->f->refusal->node);
    return text_value(arena_printf(w->a, "%.*s", (int)strcspn(out.text, "\n"), out.text));
}

static const char *known_text(const struct sentence *w, const struct value *v)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    struct json_writer json = {.out = &out};

    if (v->type == VALUE_ABSENT)
        return "absent";
    if (v->type == VALUE_TEXTS && v->texts.n == 0)
        return "empty";
    strbuf_init(&out, SENTENCE_MAX / 2);
    attributes_write_value(&json, NULL, v);
    return arena_printf(w->a, "%.*s", (int)strcspn(out.text, "\n"), out.text);
}

/* "; $host.cores is 4, $vm.vcpus is 8" */
static struct filling values_there(const struct sentence *w)
{
    const struct expression *x = refusing_filter(w);
    const char *all = "";

    for (uint32_t i = 0; x && i < w->f->refusal->n_values; i++) {
        const struct known_value *v = &w->f->refusal->values[i];
        all = arena_printf(w->a, "%s%s%s is %s", all, i ? ", " : "; ",
                           expression_variable_text(&x->nodes[v->node], w->a), known_text(w, &v->is));
    }
    return text_value(all);
}

static struct filling unit_said(const struct sentence *w)
{
    const struct refusal *r = w->f->refusal;
    const struct unit_answer *x = r ? r->answer : NULL;
    long long age = x && w->snap->time > x->at ? (long long)(w->snap->time - x->at) : 0;
    const char *said = x && x->error ? x->error : x && !x->outdated ? x->words : NULL;

    if (!r || !r->unit)
        return text_value("");
    const char *how = !x            ? "has not answered"
                      : x->error    ? "failed"
                      : x->outdated ? "answered too long ago to count,"
                                    : "answered";
    return text_value(arena_printf(w->a, "; the unit \"%s\" %s%s%s%s", r->unit, how,
                                   x ? arena_printf(w->a, " %lld s before", age) : "", said ? ": " : "",
                                   said ? said : ""));
}

/* One sentence for several hosts has none of them. */
static struct filling of_ovirt(const struct sentence *w)
{
    const char *text = w->alike ? NULL : wording_of_ovirt(w->snap, w->f, w->a);

    return text_value(text ? arena_printf(w->a, " In the words of oVirt: %s", text) : "");
}

/* "12 are left after "nova/az", 0 after "nova/cores"" */
static struct filling stages_left(const struct sentence *w)
{
    const char *all = w->f->n_left ? "" : NULL;

    for (uint32_t i = 0; i < w->f->n_left; i++)
        all = arena_printf(w->a, "%s%s%u%s after \"%s\"", all, i ? ", " : "", w->f->left[i].hosts,
                           i                          ? ""
                           : w->f->left[i].hosts == 1 ? " is left"
                                                      : " are left",
                           w->snap->stages[w->f->left[i].stage].is.id);
    return text_value(all);
}

static struct filling word(const struct sentence *w, const char *name)
{
    static const char *const resources[RES_COUNT + 1] = {[RES_CPU] = "CPU", [RES_MEM] = "memory"};
    const struct finding *f = w->f;

    return strcmp(name, "resource") == 0         ? text_value(resources[f->resource])
           : strcmp(name, "reason") == 0         ? text_value(reason_name(f->reason))
           : strcmp(name, "reason.meaning") == 0 ? text_value(reason_meaning(f->reason))
           : strcmp(name, "check") == 0          ? text_value(check_name(f->check))
           : strcmp(name, "check.meaning") == 0  ? text_value(check_meaning(f->check))
           : strcmp(name, "power") == 0          ? text_value(power_check_name(f->power))
           : strcmp(name, "power.meaning") == 0  ? text_value(power_check_meaning(f->power))
           : strcmp(name, "days_alike") == 0     ? text_value(alike_days_name(f->alike))
           : strcmp(name, "peer") == 0           ? text_value(f->peer)
           : strcmp(name, "because") == 0        ? text_value(wording_text(w->snap, f->because, w->a))
           : strcmp(name, "because.check.meaning") == 0
               ? text_value(f->because ? check_meaning(f->because->check) : NULL)
           : strcmp(name, "not_offered") == 0  ? first_not_offered(w)
           : strcmp(name, "refused_by") == 0   ? refused_by(w)
           : strcmp(name, "values_there") == 0 ? values_there(w)
           : strcmp(name, "unit_said") == 0    ? unit_said(w)
           : strcmp(name, "of_ovirt") == 0     ? of_ovirt(w)
           : strcmp(name, "stages_left") == 0  ? stages_left(w)
           : strcmp(name, "time") == 0         ? number_value((double)w->snap->time, "instant")
                                               : no_such_name;
}

static bool holds(const struct sentence *w, const char *when);

static struct filling phrase(const struct sentence *w, const char *name)
{
    bool exists = false;

    for (size_t i = 0; i < wording_phrases_count; i++) {
        if (strcmp(wording_phrases[i].name, name) != 0)
            continue;
        if (holds(w, wording_phrases[i].when))
            return text_value(wording_expand(w, wording_phrases[i].text));
        exists = true;
    }
    return exists ? absent : no_such_name;
}

static struct filling value_of(const struct sentence *w, const char *name)
{
    static struct filling (*const kinds[])(const struct sentence *, const char *) = {word, subject, figure,
                                                                                     phrase};
    struct filling v = no_such_name;
    size_t len = strcspn(name, "/-");

    if (name[len])
        return figure_of_two(w, name, len);
    for (size_t i = 0; v.kind == NO_SUCH_NAME && i < sizeof kinds / sizeof *kinds; i++)
        v = kinds[i](w, name);
    return v;
}

/* ---- conditions ---- */

/* The next word of the text, in ret; where it goes on. */
static const char *next_condition(const char *at, char ret[static NAME_MAX_LEN])
{
    size_t len = strcspn(at, " ");

    (void)snprintf(ret, NAME_MAX_LEN, "%.*s", (int)len, at);
    return at + len + strspn(at + len, " ");
}

/* What a condition compares with: a number, a word, or what the braces stand for. */
static struct filling operand(const struct sentence *w, char *text)
{
    double number;

    if (*text == '{') {
        text[strcspn(text, "}")] = '\0';
        return value_of(w, text + 1);
    }
    return number_parse(text, &number) ? number_value(number, "whole") : text_value(text);
}

static bool compares(struct filling left, char op, struct filling right)
{
    if (left.kind != right.kind)
        return false;
    if (left.kind == NUMBER)
        return op == '='   ? left.number == right.number /* counts */
               : op == '<' ? left.number < right.number
                           : left.number > right.number;
    if (left.ix != IX_NONE && right.ix != IX_NONE)
        return left.ix == right.ix; /* names need not be unique */
    return left.kind == TEXT && strcmp(left.text, right.text) == 0;
}

static bool holds(const struct sentence *w, const char *when)
{
    char condition[NAME_MAX_LEN];

    while (*when) {
        when = next_condition(when, condition);
        bool not = condition[0] == '!';
        size_t len = strcspn(condition, "=<>");
        char op = condition[len];
        condition[len] = '\0';
        struct filling v = value_of(w, condition + not );
        bool is = op ? compares(v, op, operand(w, condition + len + 1)) : v.kind == TEXT || v.kind == NUMBER;
        if (is == not )
            return false;
    }
    return true;
}

/* ---- figures as text ---- */

/* No sign before what rounds to nothing. */
static double whole(double x)
{
    return fabs(x) < 0.5 ? 0 : x;
}

static const char *mhz(struct arena *a, double x, const char *per)
{
    return x >= MHZ_PER_GHZ ? arena_printf(a, "%.1f GHz%s", x / MHZ_PER_GHZ, per)
                            : arena_printf(a, "%.0f MHz%s", whole(x), per);
}

static const char *mb(struct arena *a, double x, const char *per)
{
    return x >= MB_PER_GB ? arena_printf(a, "%.1f GiB%s", x / MB_PER_GB, per)
                          : arena_printf(a, "%.0f MiB%s", whole(x), per);
}

static const char *duration(struct arena *a, double seconds)
{
    long long s = llround(seconds);

    if (s < SECONDS_PER_MINUTE)
        return arena_printf(a, "%lld s", s);
    if (s % SECONDS_PER_MINUTE == 0)
        return arena_printf(a, "%lld min", s / SECONDS_PER_MINUTE);
    return arena_printf(a, "%lld min %lld s", s / SECONDS_PER_MINUTE, s % SECONDS_PER_MINUTE);
}

/* As exact as an admin wants it. */
static const char *about(struct arena *a, double seconds)
{
    return seconds < 2 * SECONDS_PER_MINUTE ? arena_printf(a, "%.0f s", seconds)
                                            : arena_printf(a, "%.0f min", seconds / SECONDS_PER_MINUTE);
}

static const char *clock_time(struct arena *a, double instant)
{
    char text[RFC3339_MAX];

    return arena_printf(a, "%.5s UTC", rfc3339_format((instant_s)instant, text) + strlen("YYYY-MM-DDT"));
}

/* NULL: there is no such form. */
static const char *formatted(struct arena *a, double x, const char *form)
{
    return strcmp(form, "whole") == 0      ? arena_printf(a, "%.0f", whole(x))
           : strcmp(form, "percent") == 0  ? arena_printf(a, "%.0f %%", PERCENT * x)
           : strcmp(form, "tenths") == 0   ? arena_printf(a, "%.1f %%", PERCENT * x) /* percent */
           : strcmp(form, "points") == 0   ? arena_printf(a, "%.0f percentage points", PERCENT * x)
           : strcmp(form, "mhz") == 0      ? mhz(a, x, "")
           : strcmp(form, "mb") == 0       ? mb(a, x, "")
           : strcmp(form, "mhz_s") == 0    ? mhz(a, x, " s")
           : strcmp(form, "mb_s") == 0     ? mb(a, x, " s")
           : strcmp(form, "duration") == 0 ? duration(a, x)
           : strcmp(form, "about") == 0    ? about(a, x)
           : strcmp(form, "clock") == 0    ? clock_time(a, x)
           : strcmp(form, "before") == 0
               ? x >= RFC3339_LAST ? "for ever" : arena_printf(a, "before %s", formatted(a, x, "instant"))
           : strcmp(form, "instant") == 0 ? rfc3339_format((instant_s)x, arena_array(a, char, RFC3339_MAX))
           : form[0] >= '1' && form[0] <= '9' && !form[1] ? arena_printf(a, "%.*f", form[0] - '0', x)
                                                          : NULL;
}

/* ---- sentences ---- */

static const char each_host[] = "each host"; /* in a sentence about several */

static const char *number_text(struct arena *a, struct filling v, const char *form)
{
    return form && strcmp(form, "minus") == 0 ? formatted(a, -v.number, v.form)
                                              : formatted(a, v.number, form ? form : v.form);
}

/* "1.2 to 3.4 GiB": the least and the greatest figure of this name among the findings. */
static const char *range_text(const struct sentence *w, const char *name, const char *form)
{
    struct filling least = value_of(w, name);
    struct filling most = least;

    for (size_t i = 0; i < w->n_alike; i++) {
        const struct sentence one = {.snap = w->snap, .f = w->alike[i], .a = w->a};
        struct filling v = value_of(&one, name);
        if (v.number < least.number)
            least = v;
        if (v.number > most.number)
            most = v;
    }
    bool minus = form && strcmp(form, "minus") == 0;
    const char *low = number_text(w->a, minus ? most : least, form);
    const char *high = number_text(w->a, minus ? least : most, form);
    if (!low || strcmp(low, high) == 0)
        return low;
    size_t number = strcspn(low, " ");
    bool one_unit = strcmp(low + number, high + strcspn(high, " ")) == 0 &&
                    !low[number + strcspn(low + number, "0123456789")];
    return arena_printf(w->a, "%.*s to %s", one_unit ? (int)number : (int)strlen(low), low, high);
}

/* With no finding but its own, a sentence of several stands for its kind: without figures. */
static const char *figure_text(const struct sentence *w, struct filling v, const char *name, const char *form)
{
    return !w->alike ? number_text(w->a, v, form) : w->n_alike > 0 ? range_text(w, name, form) : "#";
}

/* One pair of braces: "^check.meaning", "cpu_load:percent". */
static void put_value(const struct sentence *w, struct strbuf *out, const char *braces)
{
    bool capital = braces[0] == '^';
    char name[NAME_MAX_LEN];
    size_t len = strcspn(braces, ":");
    const char *form = braces[len] ? braces + len + 1 : NULL;

    (void)snprintf(name, sizeof name, "%.*s", (int)(len - capital), braces + capital);
    struct filling v = value_of(w, name);
    const char *text = v.kind == NO_SUCH_NAME                  ? NULL
                       : v.kind == ABSENT                      ? "?"
                       : v.kind == NUMBER                      ? figure_text(w, v, name, form)
                       : w->alike && strcmp(name, "host") == 0 ? each_host
                                                               : v.text;
    if (!text)
        strbuf_printf(out, "{%s}", braces);
    else if (capital && *text >= 'a' && *text <= 'z')
        strbuf_printf(out, "%c%s", *text - 'a' + 'A', text + 1);
    else
        strbuf_puts(out, text);
}

const char *wording_expand(const struct sentence *w, const char *text)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};

    strbuf_init(&out, SENTENCE_MAX);
    while (*text) {
        char braces[NAME_MAX_LEN];
        size_t plain = strcspn(text, "{");
        strbuf_add(&out, text, plain);
        text += plain;
        if (!*text)
            break;
        size_t len = strcspn(text, "}");
        (void)snprintf(braces, sizeof braces, "%.*s", (int)len - 1, text + 1);
        put_value(w, &out, braces);
        text += len + (text[len] == '}');
    }
    return arena_strdup(w->a, out.text);
}

static const char *sentence_text(const struct sentence *w)
{
    for (size_t i = 0; w->f && i < wording_templates_count; i++)
        if (wording_templates[i].code == w->f->code && holds(w, wording_templates[i].when))
            return wording_expand(w, wording_templates[i].text);
    return NULL;
}

const char *wording_text(const struct snapshot *snap, const struct finding *f, struct arena *a)
{
    const struct sentence w = {.snap = snap, .f = f, .a = a};

    return sentence_text(&w);
}

bool wording_alike(const struct snapshot *snap, const struct finding *f, const struct finding *g,
                   struct arena *a)
{
    const struct finding *const none[1] = {NULL};
    const struct sentence w = {.snap = snap, .f = f, .a = a, .alike = none};
    const struct sentence v = {.snap = snap, .f = g, .a = a, .alike = none};
    const char *text = sentence_text(&w);
    const char *other = sentence_text(&v);

    return text && other ? strcmp(text, other) == 0 : text == other;
}

const char *wording_text_of_all(const struct snapshot *snap, const struct finding *const *all, size_t n,
                                struct arena *a)
{
    const struct sentence w = {.snap = snap, .f = all[0], .a = a, .alike = all, .n_alike = n};
    const char *text = sentence_text(&w);

    if (!text || strncmp(text, each_host, strlen(each_host)) != 0)
        return text;
    return arena_printf(a, "E%s", text + 1);
}
