/* A second evaluator of expressions: copies every value, and knows nothing of the first but the tree. */
#include "naive_fit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS 8 /* random clusters have fewer, and shorter */
#define LENGTH 64

/* A value with its own copy of everything. n: texts; -1: the value is no list of texts. */
struct copy {
    char kind; /* '-', 't', 'n', 's', 'l' */
    bool truth;
    double number;
    int n;
    char texts[TEXTS][LENGTH];
};

struct world {
    const struct snapshot *s;
    const struct expression *x;
    uint32_t vm, host, group;
    const struct naive_state *state; /* NULL: what moves change is absent */
};

static void none(struct copy *c)
{
    c->kind = '-';
    c->n = 0;
}

static void put_text(struct copy *c, const char *text)
{
    none(c);
    if (!text)
        return;
    c->kind = 's';
    c->n = 1;
    (void)snprintf(c->texts[0], LENGTH, "%s", text);
}

static void put_texts(struct copy *c, struct ids of, bool known)
{
    none(c);
    if (!known)
        return;
    c->kind = 'l';
    for (uint32_t i = 0; i < of.n; i++)
        (void)snprintf(c->texts[c->n++], LENGTH, "%s", of.items[i]);
}

static void put_number(struct copy *c, double v)
{
    none(c);
    c->kind = isfinite(v) ? 'n' : '-';
    c->number = v;
}

static void put_truth(struct copy *c, bool v)
{
    none(c);
    c->kind = 't';
    c->truth = v;
}

static void put_value(struct copy *c, const struct value *v)
{
    none(c);
    if (v->type == VALUE_TRUTH)
        put_truth(c, v->truth);
    else if (v->type == VALUE_NUMBER)
        put_number(c, v->number);
    else if (v->type == VALUE_TEXT)
        put_text(c, v->text);
    else if (v->type == VALUE_TEXTS)
        put_texts(c, v->texts, true);
}

static void put_attribute(struct copy *c, const struct attributes *of, const char *name)
{
    none(c);
    for (uint32_t i = 0; i < of->n; i++)
        if (strcmp(of->items[i].name, name) == 0)
            put_value(c, &of->items[i].is);
}

static void put_label(struct copy *c, const struct labels *of, const char *name)
{
    none(c);
    for (uint32_t i = 0; i < of->n; i++)
        if (strcmp(of->items[i].key, name) == 0)
            put_text(c, of->items[i].value);
}

static void put_quantity(struct copy *c, const struct host_quantities *of, const char *name)
{
    put_number(c, NAN);
    for (uint32_t i = 0; i < of->n; i++)
        if (strcmp(of->items[i].name, name) == 0)
            put_number(c, (of->items[i].total - of->items[i].reserved) * of->items[i].ratio -
                              of->items[i].used_elsewhere);
}

static const struct unit_answer *answer_of(const struct snapshot *s, const char *unit, uint32_t vm)
{
    for (uint32_t i = 0; i < s->n_answers; i++) {
        const struct unit_answer *x = &s->answers[i];
        if (strcmp(x->unit, unit) == 0 && span_has(x->vms, vm) && !x->error && s->time - x->at <= 600)
            return x;
    }
    return NULL;
}

/* What the unit of the stage with this expression said: the answer that counts, if there is one. */
static void put_answer(const struct world *w, struct copy *c, bool multiplier)
{
    const struct snapshot *s = w->s;
    const char *unit = NULL;

    none(c);
    for (uint32_t i = 0; i < s->n_stages; i++) {
        const struct stage_facts *is = &s->stages[i].is;
        if (w->x == &is->filter || w->x == &is->score || w->x == &is->multiplier || w->x == &is->bucket)
            unit = is->external;
    }
    const struct unit_answer *x = answer_of(s, unit, w->vm);

    if (x && multiplier)
        put_number(c, x->multipliers ? x->multipliers[w->host] : NAN);
    else if (x && x->scores)
        put_number(c, x->scores[w->host]);
    else if (x)
        put_truth(c, x->kept[w->host / 64] >> (w->host % 64) & 1);
}

static double counted(const struct world *w, const char *name, bool left);

static void variable(const struct world *w, const struct expression_node *n, struct copy *c)
{
    const struct host_facts *h = &w->s->hosts[w->host].is;
    const struct vm_facts *v = &w->s->vms[w->vm].is;
    const struct group_facts *g = w->group == IX_NONE ? NULL : &w->s->groups[w->group].is;
    const char *name = expression_variable_name(n->variable);

#define IF(word) else if (strcmp(name, word) == 0)
    if (strcmp(name, "$host.id") == 0)
        put_text(c, h->id);
    IF("$host.name") put_text(c, h->name);
    IF("$host.cores") put_number(c, h->cores);
    IF("$host.cpu_mhz") put_number(c, h->total[RES_CPU]);
    IF("$host.mem_mb") put_number(c, h->total[RES_MEM]);
    IF("$host.cpu_vendor") put_text(c, h->cpu_vendor);
    IF("$host.traits") put_texts(c, h->traits, true);
    IF("$host.networks") put_texts(c, h->networks.names, h->networks.known);
    IF("$host.datastores") put_texts(c, h->datastores.names, h->datastores.known);
    IF("$host.devices") put_texts(c, h->devices.names, h->devices.known);
    IF("$host.cpu_modes") put_texts(c, h->cpu_modes.names, h->cpu_modes.known);
    IF("$host.load") put_number(c, w->state ? w->state->load(w->state->with, w->vm, w->host) : NAN);
    IF("$host.free_mem_mb")
    put_number(c, w->state ? w->state->free_mem_mb(w->state->with, w->vm, w->host) : NAN);
    IF("$host.over_s") put_number(c, h->over_s);
    IF("$host.used.") put_number(c, w->state ? counted(w, n->name, false) : NAN);
    IF("$host.left.") put_number(c, w->state ? counted(w, n->name, true) : NAN);
    IF("$host.labels.") put_label(c, &h->labels, n->name);
    IF("$host.attributes.") put_attribute(c, &h->attributes, n->name);
    IF("$host.quantities.") put_quantity(c, &h->quantities, n->name);
    IF("$vm.id") put_text(c, v->id);
    IF("$vm.name") put_text(c, v->name);
    IF("$vm.vcpus") put_number(c, v->vcpus);
    IF("$vm.mem_mb") put_number(c, v->mem_mb);
    IF("$vm.cpu_mhz") put_number(c, v->demand[RES_CPU]);
    IF("$vm.host")
    put_text(c, v->state == VM_ON && w->s->vms[w->vm].host != IX_NONE
                    ? w->s->hosts[w->s->vms[w->vm].host].is.id
                    : NULL);
    IF("$vm.kind") put_text(c, vm_kind_name(v->kind));
    IF("$vm.folder") put_text(c, v->folder);
    IF("$vm.owner") put_text(c, v->owner);
    IF("$vm.groups") put_texts(c, v->groups, true);
    IF("$vm.labels.") put_label(c, &v->labels, n->name);
    IF("$vm.flavor.") put_attribute(c, &v->flavor, n->name);
    IF("$vm.image.") put_attribute(c, &v->image, n->name);
    IF("$vm.hints.") put_attribute(c, &v->hints, n->name);
    IF("$answer") put_answer(w, c, false);
    IF("$answer.multiplier") put_answer(w, c, true);
    IF("$group.id") put_text(c, g->id);
    IF("$group.name") put_text(c, g->name);
    IF("$group.meta.") put_label(c, &g->meta, n->name);
    else abort();
#undef IF
}

static void eval(const struct world *w, uint32_t ix, struct copy *c);

static bool holds(const struct world *w, uint32_t ix)
{
    struct copy *c = calloc(1, sizeof *c);

    eval(w, ix, c);
    bool is = c->kind == 't' && c->truth;
    free(c);
    return is;
}

static bool has(const struct copy *c, const char *text)
{
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->texts[i], text) == 0)
            return true;
    return false;
}

static bool equals(const struct copy *a, const struct copy *b)
{
    if (a->kind != b->kind || a->kind == '-' || a->kind == 'l')
        return false;
    return a->kind == 't'   ? a->truth == b->truth
           : a->kind == 'n' ? a->number == b->number
                            : strcmp(a->texts[0], b->texts[0]) == 0;
}

/* Numbers of a version, or false. */
static bool numbers(const char *text, double ret[16])
{
    char *end = (char *)(uintptr_t)text;

    memset(ret, 0, 16 * sizeof *ret);
    for (int i = 0; i < 16; i++) {
        if (!isdigit((unsigned char)*end))
            return false;
        ret[i] = (double)strtoull(end, &end, 10);
        if (*end == '\0')
            return true;
        if (*end++ != '.')
            return false;
    }
    return false;
}

static bool version(const char *is, const char *conditions)
{
    char copy[LENGTH];
    double a[16];
    double b[16];
    char *rest = copy;

    (void)snprintf(copy, sizeof copy, "%s", conditions);
    if (!numbers(is, a))
        return false;
    for (char *part = strsep(&rest, ","); part; part = strsep(&rest, ",")) {
        char op[8];
        char of[LENGTH];
        int order = 0;

        if (sscanf(part, " %3[<>=!] %63[0-9.]", op, of) != 2 || !numbers(of, b))
            return false;
        for (int i = 15; i >= 0; i--)
            order = a[i] < b[i] ? -1 : a[i] > b[i] ? 1 : order;
        if (!(strcmp(op, "<") == 0    ? order < 0
              : strcmp(op, "<=") == 0 ? order <= 0
              : strcmp(op, ">") == 0  ? order > 0
              : strcmp(op, ">=") == 0 ? order >= 0
              : strcmp(op, "!=") == 0 ? order != 0
                                      : order == 0))
            return false;
    }
    return true;
}

static bool texts_relate(const char *op, const char *a, const char *b)
{
    size_t n = strlen(a);
    size_t m = strlen(b);

    return strcmp(op, "s<") == 0            ? strcmp(a, b) < 0
           : strcmp(op, "s<=") == 0         ? strcmp(a, b) <= 0
           : strcmp(op, "s>") == 0          ? strcmp(a, b) > 0
           : strcmp(op, "s>=") == 0         ? strcmp(a, b) >= 0
           : strcmp(op, "i=") == 0          ? strcasecmp(a, b) == 0
           : strcmp(op, "contains") == 0    ? strstr(a, b) != NULL
           : strcmp(op, "starts_with") == 0 ? n >= m && memcmp(a, b, m) == 0
           : strcmp(op, "ends_with") == 0   ? n >= m && memcmp(a + n - m, b, m) == 0
                                            : version(a, b);
}

static void split(const struct copy *from, struct copy *c)
{
    char copy[LENGTH];
    char *rest = copy;

    none(c);
    if (from->kind != 's')
        return;
    c->kind = 'l';
    (void)snprintf(copy, sizeof copy, "%s", from->texts[0]);
    for (char *part = strsep(&rest, ","); part; part = strsep(&rest, ",")) {
        while (*part == ' ')
            part++;
        size_t n = strlen(part);
        while (n > 0 && part[n - 1] == ' ')
            n--;
        (void)snprintf(c->texts[c->n++], LENGTH, "%.*s", (int)n, part);
    }
}

static bool is_in_group(const struct world *w, uint32_t g, const char *kind)
{
    const struct host_group *group = &w->s->groups[g];

    for (uint32_t i = 0; i < group->hosts.n; i++)
        if (group->hosts.items[i] == w->host)
            return strcmp(group->is.kind, kind) == 0;
    return false;
}

static void groups(const struct world *w, uint32_t ix, const char *op, struct copy *c)
{
    struct copy *v = calloc(1, sizeof *v);
    double n = 0;
    double true_n = 0;
    double best = NAN;

    for (uint32_t g = 0; g < w->s->n_groups; g++) {
        struct world inner = *w;

        if (!is_in_group(w, g, w->x->nodes[ix + 1].is.text))
            continue;
        n++;
        if (strcmp(op, "groups") == 0)
            continue;
        inner.group = g;
        eval(&inner, ix + 2, v);
        true_n += v->kind == 't' && v->truth;
        if (v->kind == 'n' &&
            (isnan(best) || (strcmp(op, "least_of_groups") == 0 ? v->number < best : v->number > best)))
            best = v->number;
    }
    free(v);
    if (strcmp(op, "groups") == 0)
        put_number(c, n);
    else if (strcmp(op, "any_group") == 0)
        put_truth(c, true_n > 0);
    else if (strcmp(op, "all_groups") == 0)
        put_truth(c, true_n == n);
    else
        put_number(c, best);
}

static double arithmetic(const char *op, double x, double y)
{
    return strcmp(op, "+") == 0     ? x + y
           : strcmp(op, "-") == 0   ? x - y
           : strcmp(op, "*") == 0   ? x * y
           : strcmp(op, "/") == 0   ? (y == 0 ? NAN : x / y)
           : strcmp(op, "min") == 0 ? fmin(x, y)
                                    : fmax(x, y);
}

/* Whether all operands behind the first have, or one has, a value in common with it as the operator says. */
static bool members(const char *op, const struct copy *v, uint32_t n)
{
    bool every = strcmp(op, "has_all") == 0;
    bool result = every;

    for (uint32_t i = 1; i < n; i++) {
        bool one = every;
        bool plain = strchr("tn", v[0].kind) || strchr("tn", v[i].kind);
        const struct copy *asked = every ? &v[i] : &v[0];
        const struct copy *other = every ? &v[0] : &v[i];

        if (plain || v[0].kind == '-' || v[i].kind == '-') {
            one = plain && equals(&v[0], &v[i]);
        } else {
            for (int k = 0; k < asked->n; k++)
                one = every ? one && has(other, asked->texts[k]) : one || has(other, asked->texts[k]);
        }
        result = every ? result && one : result || one;
    }
    return result;
}

/* Operators whose value follows from the values of their operands alone, behind logic and lists. */
static void relate(const char *op, const struct copy *v, uint32_t k, struct copy *c)
{
    char *end;

    if (strcmp(op, "number") == 0) {
        double x = v[0].kind == 's' ? strtod(v[0].texts[0], &end) : v[0].number;
        bool plain = v[0].kind != 's' || (v[0].texts[0][0] && !*end &&
                                          strspn(v[0].texts[0], "+-.0123456789eE") == strlen(v[0].texts[0]));
        put_number(c, strchr("sn", v[0].kind) && plain ? x : NAN);
    } else if (strcmp(op, "split") == 0)
        split(&v[0], c);
    else if (strcmp(op, "count") == 0)
        put_number(c, v[0].kind == '-' ? NAN : strchr("tn", v[0].kind) ? 1 : (double)v[0].n);
    else if (strcmp(op, "<") == 0 || strcmp(op, "<=") == 0 || strcmp(op, ">") == 0 || strcmp(op, ">=") == 0)
        put_truth(c, v[0].kind == 'n' && v[1].kind == 'n' &&
                         ((op[0] == '<' && v[0].number < v[1].number) ||
                          (op[0] == '>' && v[0].number > v[1].number) ||
                          (op[1] == '=' && v[0].number == v[1].number)));
    else if (strchr("+-*/", op[0]) || strcmp(op, "min") == 0 || strcmp(op, "max") == 0) {
        double sum = v[0].kind == 'n' ? v[0].number : NAN;
        for (uint32_t i = 1; i < k; i++)
            sum = v[i].kind == 'n' && isfinite(sum) ? arithmetic(op, sum, v[i].number) : NAN;
        put_number(c, sum);
    } else
        put_truth(c, v[0].kind == 's' && v[1].kind == 's' && texts_relate(op, v[0].texts[0], v[1].texts[0]));
}

static void operate(const struct world *w, uint32_t ix, struct copy *c)
{
    const struct expression_node *node = &w->x->nodes[ix];
    const char *op = expression_operator_name(node->op);
    struct copy *v = calloc(node->n, sizeof *v);
    uint32_t k = 0;
    bool every = true;
    bool some = false;

    if (node->op >= OPERATOR_ANY_GROUP) {
        groups(w, ix, op, c);
        free(v);
        return;
    }
    for (uint32_t i = ix + 1; i < node->end; i = w->x->nodes[i].end) {
        eval(w, i, &v[k]);
        every = every && v[k].kind == 't' && v[k].truth;
        some = some || (v[k].kind == 't' && v[k].truth);
        k++;
    }
    bool first = v[0].kind == 't' && v[0].truth;
    if (strcmp(op, "and") == 0)
        put_truth(c, every);
    else if (strcmp(op, "or") == 0)
        put_truth(c, some);
    else if (strcmp(op, "not") == 0)
        put_truth(c, !some);
    else if (strcmp(op, "if") == 0)
        *c = v[first ? 1 : 2];
    else if (strcmp(op, "given") == 0)
        put_truth(c, v[0].kind != '-');
    else if (strcmp(op, "floor") == 0)
        put_number(c, v[0].kind == 'n' ? floor(v[0].number) : NAN);
    else if (strcmp(op, "default") == 0) {
        none(c);
        for (uint32_t i = 0; i < k && c->kind == '-'; i++)
            *c = v[i];
    } else if (strcmp(op, "=") == 0)
        put_truth(c, equals(&v[0], &v[1]));
    else if (strcmp(op, "!=") == 0)
        put_truth(c, v[0].kind == v[1].kind && strchr("tns", v[0].kind) && !equals(&v[0], &v[1]));
    else if (strcmp(op, "in") == 0 || strcmp(op, "has_all") == 0)
        put_truth(c, members(op, v, k));
    else
        relate(op, v, k, c);
    free(v);
}

static void eval(const struct world *w, uint32_t ix, struct copy *c)
{
    const struct expression_node *node = &w->x->nodes[ix];

    if (node->kind == EXPRESSION_CONSTANT)
        put_value(c, &node->is);
    else if (node->kind == EXPRESSION_VARIABLE)
        variable(w, node, c);
    else
        operate(w, ix, c);
}

bool naive_is_true(const struct snapshot *s, const struct expression *x, uint32_t vm, uint32_t host)
{
    const struct world w = {.s = s, .x = x, .vm = vm, .host = host, .group = IX_NONE};

    return holds(&w, 0);
}

static bool binds(const struct snapshot *s, const struct stage_facts *stage, enum fit_use use, uint32_t vm)
{
    return !stage->external || answer_of(s, stage->external, vm) ||
           (use != FIT_CORRECT && stage->on_failure == ANSWER_FAILURE_REFUSE);
}

bool naive_keeps(const struct snapshot *s, uint32_t stage, enum fit_use use, uint32_t vm, uint32_t host)
{
    return !binds(s, &s->stages[stage].is, use, vm) ||
           naive_is_true(s, &s->stages[stage].is.filter, vm, host);
}

/* Without a state, the filters that moves do not change. */
bool naive_live_allows(const struct snapshot *s, enum fit_use use, uint32_t vm, uint32_t host,
                       const struct naive_state *state, unsigned *ret_asked)
{
    const struct pipeline *p = s->vms[vm].pipeline == IX_NONE ? NULL : &s->pipelines[s->vms[vm].pipeline];

    for (uint32_t i = 0; p && i < p->n; i++) {
        const struct stage_facts *stage = &s->stages[p->first + i].is;
        const struct world w = {
            .s = s, .x = &stage->filter, .vm = vm, .host = host, .group = IX_NONE, .state = state};

        if (stage->filter.n == 0 || !(stage->applies & 1u << use) || !binds(s, stage, use, vm) ||
            expression_is_live(&stage->filter) != (state != NULL))
            continue;
        ++*ret_asked;
        if (!holds(&w, 0))
            return false;
    }
    return true;
}

bool naive_fits(const struct snapshot *s, enum fit_use use, uint32_t vm, uint32_t host)
{
    unsigned asked = 0;

    return naive_live_allows(s, use, vm, host, NULL, &asked);
}

/* ---- counts ---- */

/* NaN: no number. */
double naive_number(const struct snapshot *s, const struct expression *x, uint32_t vm, uint32_t host)
{
    const struct world w = {.s = s, .x = x, .vm = vm, .host = host, .group = IX_NONE};
    struct copy *c = calloc(1, sizeof *c);

    eval(&w, 0, c);
    double ret = c->kind == 'n' ? c->number : NAN;
    free(c);
    return ret;
}

static bool shares_text(const struct snapshot *s, const struct expression *per, uint32_t vm, const char *text)
{
    const struct world w = {.s = s, .x = per, .vm = vm, .group = IX_NONE};
    struct copy *c = calloc(1, sizeof *c);

    eval(&w, 0, c);
    bool ret = has(c, text);
    free(c);
    return ret;
}

struct count_of {
    const struct snapshot *s;
    const struct stage_facts *stage;
    const char *text; /* of `per`; NULL: all VMs */
    uint32_t vm;
    const struct naive_state *state;
};

static const char *const texts[] = {NULL, "web", "db", "AVX", "SSE", "NEON"}; /* of any per */

static double taken_on(const struct count_of *c, uint32_t host)
{
    double sum = 0;

    for (uint32_t i = 0; i < c->s->n_vms; i++) {
        if (i == c->vm || !c->state->is_on(c->state->with, i, host, c->stage->off))
            continue;
        double takes = naive_number(c->s, &c->stage->count, i, 0);
        if (takes > 0 && (!c->text || shares_text(c->s, &c->stage->per, i, c->text)))
            sum += takes;
    }
    return sum;
}

static bool is_within(const struct count_of *c, uint32_t host)
{
    double takes = naive_number(c->s, &c->stage->count, c->vm, 0);
    double limit = naive_number(c->s, &c->stage->limit, c->vm, host);

    if (!c->stage->over)
        return taken_on(c, host) + takes <= limit + 1e-3;
    for (uint32_t g = 0; g < c->s->n_groups; g++) {
        const struct host_group *group = &c->s->groups[g];
        double sum = takes;
        bool here = false;

        if (strcmp(group->is.kind, c->stage->over) != 0)
            continue;
        for (uint32_t i = 0; i < group->hosts.n; i++) {
            here = here || group->hosts.items[i] == host;
            sum += taken_on(c, group->hosts.items[i]);
        }
        if (here && !(sum <= limit + 1e-3))
            return false;
    }
    return true;
}

bool naive_counts_allow(const struct snapshot *s, enum fit_use use, uint32_t vm, uint32_t host,
                        const struct naive_state *state)
{
    const struct pipeline *p = s->vms[vm].pipeline == IX_NONE ? NULL : &s->pipelines[s->vms[vm].pipeline];

    for (uint32_t i = 0; p && i < p->n; i++) {
        struct count_of c = {s, &s->stages[p->first + i].is, NULL, vm, state};

        if (c.stage->limit.n == 0 || !(c.stage->applies & 1u << use) ||
            !(naive_number(s, &c.stage->count, vm, 0) > 0))
            continue;
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            c.text = texts[k];
            if ((c.stage->per.n == 0) != (k == 0) || (k > 0 && !shares_text(s, &c.stage->per, vm, c.text)))
                continue;
            if (!is_within(&c, host))
                return false;
        }
    }
    return true;
}

/* The most that others take on the host, or in one of its groups, with one of the VM's texts. */
static double used_by_others(const struct world *w, const struct stage_facts *stage)
{
    double most = 0;

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const struct count_of c = {w->s, stage, texts[k], w->vm, w->state};
        if ((stage->per.n == 0) != (k == 0) ||
            (k > 0 && (!(naive_number(w->s, &stage->count, w->vm, 0) > 0) ||
                       !shares_text(w->s, &stage->per, w->vm, texts[k]))))
            continue;
        if (!stage->over)
            most = fmax(most, taken_on(&c, w->host));
        for (uint32_t g = 0; stage->over && g < w->s->n_groups; g++) {
            const struct host_group *group = &w->s->groups[g];
            double sum = 0;
            for (uint32_t i = 0; i < group->hosts.n; i++)
                sum += taken_on(&c, group->hosts.items[i]);
            if (is_in_group(w, g, stage->over))
                most = fmax(most, sum);
        }
    }
    return most;
}

static double counted(const struct world *w, const char *name, bool left)
{
    const struct pipeline *p = &w->s->pipelines[w->s->vms[w->vm].pipeline];

    for (uint32_t i = p->first; i < p->first + p->n; i++) {
        const struct stage_facts *stage = &w->s->stages[i].is;
        if (stage->count.n == 0 || strcmp(stage->name, name) != 0)
            continue;
        double used = used_by_others(w, stage);
        return !left                ? used
               : stage->limit.n > 0 ? naive_number(w->s, &stage->limit, w->vm, w->host) - used
                                    : NAN;
    }
    abort();
}
