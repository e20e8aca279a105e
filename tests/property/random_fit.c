/* Writes expressions as JSON text and has them read, so that only what the reader accepts is tried. */
#include "random_fit.h"

#include "base/strbuf.h"
#include "model/expression.h"
#include "schema/json_tree.h"

#include <stdio.h>
#include <stdlib.h>

#define OF(r, list) list[rng_below(r, (uint32_t)(sizeof(list) / sizeof(list)[0]))]

static const char *const words[] = {"a", "b", "AVX", "east", "west", "6.2", "7.0.1", "3", "", "a, AVX"};
static const char *const names[] = {"tier", "gpu", "version", "zone", "same"};
static const char *const traits[] = {"AVX", "SSE", "NEON"};
static const char *const kinds[] = {"zone", "aggregate", "rack"};

static bool chance(struct rng *r, double p)
{
    return rng_unit(r) < p;
}

/* ---- facts ---- */

static struct value any_value(struct rng *r, struct arena *a)
{
    const char **items = arena_array(a, const char *, 2);

    switch (rng_below(r, 5)) {
    case 0:
        return (struct value){.type = VALUE_NUMBER, .number = rng_below(r, 5)};
    case 1:
        return (struct value){.type = VALUE_TRUTH, .truth = chance(r, 0.5)};
    case 2:
        items[0] = OF(r, words);
        items[1] = OF(r, words);
        return (struct value){.type = VALUE_TEXTS, .texts = {items, rng_below(r, 3)}};
    default:
        return (struct value){.type = VALUE_TEXT, .text = OF(r, words)};
    }
}

static void add(struct attribute *items, uint32_t *n, const char *name, struct value is)
{
    items[(*n)++] = (struct attribute){.name = name, .is = is};
}

/* tame: "tier" is a number, "zone" a text. */
static struct attributes attributes(struct rng *r, bool tame, struct arena *a)
{
    struct attribute *items = arena_array(a, struct attribute, 8);
    uint32_t n = 0;

    if (tame) {
        add(items, &n, "tier", (struct value){.type = VALUE_NUMBER, .number = 1 + rng_below(r, 3)});
        add(items, &n, "zone", (struct value){.type = VALUE_TEXT, .text = chance(r, 0.7) ? "east" : "west"});
        return (struct attributes){.items = items, .n = n};
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (chance(r, 0.7))
            add(items, &n, names[i], any_value(r, a));
    return (struct attributes){.items = items, .n = n};
}

static struct ids some_traits(struct rng *r, double share, struct arena *a)
{
    const char **items = arena_array(a, const char *, 3);
    uint32_t n = 0;

    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
        if (chance(r, share))
            items[n++] = traits[i];
    return (struct ids){.items = items, .n = n};
}

static void add_groups(struct rng *r, struct inventory *inv, struct arena *a)
{
    for (uint32_t i = 0, n = rng_below(r, 4); i < n; i++) {
        struct seen_group *g = inventory_add_group(inv, a);
        const char **hosts = arena_array(a, const char *, inv->n_hosts);
        struct label *meta = arena_array(a, struct label, 2);

        g->is.id = arena_printf(a, "g%u", i);
        g->is.kind = OF(r, kinds);
        meta[0] = (struct label){"zone", OF(r, words)};
        meta[1] = (struct label){"owners", chance(r, 0.5) ? "a,b" : OF(r, words)};
        g->is.meta = (struct labels){meta, rng_below(r, 3)};
        for (size_t h = 0; h < inv->n_hosts; h++)
            if (chance(r, 0.5))
                hosts[g->hosts.n++] = inv->hosts[h].is.id;
        g->hosts.items = hosts;
    }
}

/* ---- expressions ---- */

/* What is being written, and with what. */
struct writing {
    struct rng *r;
    struct strbuf *out;
    bool group; /* within an operator of groups */
};

static void put(const struct writing *w, const char *text)
{
    strbuf_puts(w->out, text);
}

static void put_condition(const struct writing *w, unsigned depth);

static void put_word(const struct writing *w)
{
    strbuf_printf(w->out, "\"%s\"", OF(w->r, words));
}

/* A variable of any type, or of texts. */
static void put_variable(const struct writing *w)
{
    static const char *const of[] = {"$host.attributes.", "$vm.flavor.", "$vm.image.", "$vm.hints."};
    static const char *const plain[] = {"$host.traits",     "$host.networks", "$vm.owner",
                                        "$host.cpu_vendor", "$vm.name",       "$vm.groups"};
    static const char *const of_group[] = {"$group.meta.zone", "$group.meta.owners", "$group.id"};

    if (w->group && chance(w->r, 0.5))
        strbuf_printf(w->out, "\"%s\"", OF(w->r, of_group));
    else if (chance(w->r, 0.3))
        strbuf_printf(w->out, "\"%s\"", OF(w->r, plain));
    else
        strbuf_printf(w->out, "\"%s%s\"", OF(w->r, of), OF(w->r, names));
}

/* What may be one text. */
static void put_text(const struct writing *w)
{
    static const char *const of[] = {"$host.attributes.", "$vm.flavor.", "$vm.hints."};

    if (chance(w->r, 0.4))
        put_word(w);
    else if (w->group && chance(w->r, 0.5))
        put(w, chance(w->r, 0.5) ? "\"$group.meta.zone\"" : "\"$group.meta.owners\"");
    else
        strbuf_printf(w->out, "\"%s%s\"", OF(w->r, of), OF(w->r, names));
}

static void put_number(const struct writing *w, unsigned depth)
{
    static const char *const operators[] = {"+", "-", "*", "/", "min", "max"};
    static const char *const variables[] = {"$host.cores", "$vm.vcpus", "$host.attributes.tier",
                                            "$vm.flavor.tier", "$host.quantities.cores"};
    uint32_t kind = rng_below(w->r, depth > 0 ? 8 : 4);

    if (kind < 2) {
        strbuf_printf(w->out, "%u", rng_below(w->r, 4));
    } else if (kind < 4) {
        strbuf_printf(w->out, "\"%s\"", OF(w->r, variables));
    } else if (kind < 6) {
        strbuf_printf(w->out, "[\"%s\",", OF(w->r, operators));
        put_number(w, depth - 1);
        put(w, ",");
        put_number(w, depth - 1);
        put(w, "]");
    } else if (kind < 7 || w->group) {
        put(w, chance(w->r, 0.5) ? "[\"number\"," : "[\"count\",");
        put_text(w);
        put(w, "]");
    } else {
        strbuf_printf(w->out, "[\"%s\",\"%s\",", chance(w->r, 0.5) ? "least_of_groups" : "most_of_groups",
                      OF(w->r, kinds));
        put_number(&(struct writing){w->r, w->out, true}, depth - 1);
        put(w, "]");
    }
}

static void put_any(const struct writing *w, unsigned depth)
{
    uint32_t kind = rng_below(w->r, 6);

    if (kind == 0)
        put_number(w, depth);
    else if (kind == 1)
        put_word(w);
    else if (kind == 2) {
        put(w, "[\"split\",");
        put_text(w);
        put(w, "]");
    } else
        put_variable(w);
}

/* An operator of two texts; the conditions on a version stand for one that is constant. */
static void put_texts(const struct writing *w)
{
    static const char *const operators[] = {
        "s<", "s<=", "s>", "s>=", "i=", "contains", "starts_with", "ends_with"};

    if (chance(w->r, 0.2)) {
        put(w, "[\"version\",");
        put_text(w);
        put(w, chance(w->r, 0.5) ? ",\">=6, <7\"]" : ",\"!=6.2\"]");
        return;
    }
    strbuf_printf(w->out, "[\"%s\",", OF(w->r, operators));
    put_text(w);
    put(w, ",");
    put_text(w);
    put(w, "]");
}

static void put_list(const struct writing *w, const char *op, unsigned depth,
                     void (*operand)(const struct writing *w, unsigned depth))
{
    uint32_t n = 1 + rng_below(w->r, 3);

    strbuf_printf(w->out, "[\"%s\"", op);
    for (uint32_t i = 0; i < n; i++) {
        put(w, ",");
        operand(w, depth - 1);
    }
    put(w, "]");
}

static void put_pair(const struct writing *w, const char *op, unsigned depth,
                     void (*operand)(const struct writing *w, unsigned depth))
{
    strbuf_printf(w->out, "[\"%s\",", op);
    operand(w, depth - 1);
    put(w, ",");
    operand(w, depth - 1);
    put(w, "]");
}

/* Of members there may be several in a row. */
static void put_members(const struct writing *w, unsigned depth)
{
    strbuf_printf(w->out, "[\"%s\",", chance(w->r, 0.5) ? "in" : "has_all");
    put_any(w, depth - 1);
    for (uint32_t n = 1 + rng_below(w->r, 4); n > 0; n--) {
        put(w, ",");
        if (chance(w->r, 0.5))
            put_word(w);
        else
            put_any(w, depth - 1);
    }
    put(w, "]");
}

static void put_condition(const struct writing *w, unsigned depth)
{
    static const char *const comparisons[] = {"<", "<=", ">", ">=", "=", "!="};
    uint32_t kind = rng_below(w->r, depth > 0 ? 12 : 1);

    if (kind == 0)
        put(w, chance(w->r, 0.5) ? "\"$host.attributes.gpu\"" : chance(w->r, 0.5) ? "true" : "false");
    else if (kind < 4)
        put_pair(w, OF(w->r, comparisons), depth, put_number);
    else if (kind == 4)
        put_texts(w);
    else if (kind < 7)
        put_members(w, depth);
    else if (kind == 7)
        put_list(w, chance(w->r, 0.5) ? "and" : "or", depth, put_condition);
    else if (kind == 8 && !w->group) {
        strbuf_printf(w->out, "[\"%s\",\"%s\",", chance(w->r, 0.5) ? "any_group" : "all_groups",
                      OF(w->r, kinds));
        put_condition(&(struct writing){w->r, w->out, true}, depth - 1);
        put(w, "]");
    } else if (kind == 9) {
        put(w, "[\"not\",");
        put_condition(w, depth - 1);
        put(w, "]");
    } else if (kind == 10) {
        put(w, "[\"if\",");
        put_condition(w, depth - 1);
        put(w, ",");
        put_condition(w, depth - 1);
        put(w, ",");
        put_condition(w, depth - 1);
        put(w, "]");
    } else {
        put(w, "[\"given\",");
        put_any(w, depth - 1);
        put(w, "]");
    }
}

static struct expression read(const char *text, field_reader *reader_of, struct arena *a)
{
    struct err err = {0};
    const struct reader reader = {.a = a, .err = &err};
    struct expression x;
    struct node *n;

    if (json_tree_parse(text, a, &n, &err) < 0 || reader_of(&reader, n, &x) < 0) {
        (void)fprintf(stderr, "the random expression %s is refused: %s\n", text, err.text);
        exit(1);
    }
    return x;
}

static struct expression any_filter(struct rng *r, struct arena *a)
{
    struct strbuf text;
    const struct writing w = {.r = r, .out = &text};

    strbuf_init(&text, STRBUF_NO_LIMIT);
    put_condition(&w, 4);
    struct expression x = read(text.text, expression_read, a);
    strbuf_release(&text);
    return x;
}

/* Stages as people write them. */
static struct expression tame_filter(struct rng *r, struct arena *a)
{
    static const char *const filters[] = {
        "[\">=\",\"$host.attributes.tier\",[\"-\",\"$vm.flavor.tier\",1]]",
        "[\"or\",[\"not\",[\"given\",\"$vm.owner\"]],[\"in\",\"$vm.owner\",\"AVX\",\"$host.traits\"]]",
        "[\"or\",[\"=\",\"$vm.hints.zone\",\"$host.attributes.zone\"],[\">=\",\"$host.attributes.tier\",2]]",
        "[\"all_groups\",\"aggregate\",[\"or\",[\"not\",[\"given\",\"$group.meta.owners\"]],"
        "[\"in\",\"$vm.owner\",\"east\",[\"split\",\"$group.meta.owners\"]]]]",
        "[\"<=\",\"$vm.vcpus\",[\"*\",\"$host.cores\",2]]"};

    return read(OF(r, filters), expression_read, a);
}

/* ---- external units ---- */

static const char *const unit_names[] = {"u0", "u1"};

static void external_filter(struct rng *r, struct stage_facts *stage, bool tame, struct arena *a)
{
    static const char *const filters[] = {
        "\"$answer\"", "[\"or\",\"$answer\",[\">=\",\"$host.attributes.tier\",2]]", "[\">\",\"$answer\",1]",
        "[\"default\",\"$answer\",\"$host.attributes.gpu\"]", "[\"not\",\"$answer\"]"};

    stage->external = OF(r, unit_names);
    stage->filter = read(filters[rng_below(r, tame ? 2 : 5)], expression_read, a);
    stage->on_failure_given = chance(r, 0.6);
    stage->on_failure = stage->on_failure_given ? (enum answer_failure)rng_below(r, answer_failure_count)
                                                : ANSWER_FAILURE_REFUSE;
}

static void fill_answer(struct rng *r, const struct inventory *inv, double share, struct seen_answer *x,
                        struct arena *a)
{
    const char **hosts = arena_array(a, const char *, inv->n_hosts);
    double *scores = arena_array(a, double, inv->n_hosts);

    for (size_t h = 0; h < inv->n_hosts; h++)
        if (chance(r, share)) {
            scores[x->hosts.n] = rng_below(r, 4);
            hosts[x->hosts.n++] = inv->hosts[h].is.id;
        }
    x->hosts.items = hosts;
    x->hosts_given = true;
    x->scores_given = share < 1 && chance(r, 0.4);
    if (x->scores_given)
        x->scores = (struct answer_scores){scores, x->hosts.n};
    x->multipliers_given = x->scores_given && chance(r, 0.5);
    if (x->multipliers_given)
        x->multipliers = x->scores;
}

/* Of each unit up to four answers, about some VMs each: hosts, scores, a failure, an old one. */
static void add_answers(struct rng *r, struct inventory *inv, bool tame, struct arena *a)
{
    inv->n_answers = 0;
    for (uint32_t u = 0; u < 2; u++)
        for (uint32_t k = 0; k < 4; k++) {
            struct seen_answer x = {.unit = unit_names[u], .at = inv->time - rng_below(r, 500)};
            const char **vms = arena_array(a, const char *, inv->n_vms);

            for (size_t v = k; v < inv->n_vms; v += 5)
                vms[x.vms.n++] = inv->vms[v].is.id;
            x.vms.items = vms;
            if (chance(r, 0.1))
                x.error = "no answer in time";
            else
                fill_answer(r, inv, tame ? 1 : 0.6, &x, a);
            if (chance(r, 0.1))
                x.at = inv->time - 601;
            if (tame && !x.error)
                x.hosts.n -= x.hosts.n > 2 && chance(r, 0.7) ? 1 + rng_below(r, 2) : 0;
            *inventory_add_answer(inv, a) = x;
        }
}

static struct host_quantities some_quantities(struct rng *r, struct arena *a)
{
    struct host_quantity *items = arena_array(a, struct host_quantity, 2);

    items[0] = (struct host_quantity){"disk", 10 + rng_below(r, 60), rng_below(r, 3), 1, rng_below(r, 3)};
    items[1] = (struct host_quantity){"cores", 4 + rng_below(r, 12), 0, 1 + rng_below(r, 3), 0};
    return (struct host_quantities){.items = items, .n = rng_below(r, 3)};
}

static struct ids some_groups(struct rng *r, struct arena *a)
{
    const char **items = arena_array(a, const char *, 2);
    uint32_t n = 0;

    for (uint32_t i = 0; i < 2; i++)
        if (chance(r, 0.4))
            items[n++] = i == 0 ? "web" : "db";
    return (struct ids){.items = items, .n = n};
}

/* How much VMs take, and of what. */
static void any_count(struct rng *r, struct stage_facts *stage, bool tame, struct arena *a)
{
    static const char *const counts[] = {"1", "\"$vm.vcpus\"", "\"$vm.flavor.tier\"",
                                         "[\"default\",\"$vm.flavor.disk\",2]"};
    static const char *const limits[] = {"\"$host.quantities.disk\"",
                                         "\"$host.quantities.cores\"",
                                         "[\"*\",2,\"$host.cores\"]",
                                         "5",
                                         "[\"default\",\"$vm.hints.most\",3]",
                                         "[\"default\",[\"least_of_groups\",\"aggregate\",[\"number\","
                                         "\"$group.meta.zone\"]],20]"};

    stage->count = read(OF(r, counts), expression_read_number, a);
    if (chance(r, 0.9))
        stage->limit = read(OF(r, limits), expression_read_number, a);
    if (chance(r, 0.4))
        stage->per = read(chance(r, 0.5) ? "\"$vm.groups\"" : "\"$vm.owner\"", expression_read_texts, a);
    if (chance(r, 0.2) && !tame)
        stage->over = OF(r, kinds);
    stage->off = chance(r, 0.25);
}

static void any_score(struct rng *r, struct stage_facts *stage, const char *counted, struct arena *a)
{
    static const char *const scores[] = {"\"$host.cores\"",
                                         "\"$host.attributes.tier\"",
                                         "[\"floor\",[\"/\",\"$host.attributes.tier\",\"$host.cores\"]]",
                                         "[\"-\",[\"most_of_hosts\",\"$host.attributes.tier\"],"
                                         "\"$host.attributes.tier\"]",
                                         "[\"-\",\"$host.cores\",[\"between_hosts\",[\"if\",[\"in\",\"AVX\","
                                         "\"$host.traits\"],\"$host.cores\",\"none\"]]]",
                                         "[\"if\",[\"in\",\"AVX\",\"$host.traits\"],1,[\"-\",0,1]]",
                                         "[\"-\",\"$host.attributes.tier\",\"$vm.flavor.tier\"]"};

    stage->score = read(counted && chance(r, 0.4)
                            ? arena_printf(a, "\"$host.%s.%s\"", chance(r, 0.5) ? "left" : "used", counted)
                            : OF(r, scores),
                        expression_read_number, a);
    if (chance(r, 0.2)) {
        stage->external = OF(r, unit_names);
        stage->score = read("\"$answer\"", expression_read_number, a);
    }
    stage->normalise_given = chance(r, 0.7);
    stage->normalise = stage->normalise_given ? (enum normalisation)rng_below(r, normalisation_count) : 0;
    if (chance(r, 0.5))
        stage->multiplier = read(stage->external && chance(r, 0.7) ? "\"$answer.multiplier\""
                                 : chance(r, 0.5)                  ? "2.5"
                                                                   : "[\"-\",0,\"$host.attributes.tier\"]",
                                 expression_read_number, a);
    if (stage->normalise == NORMALISE_MINMAX && chance(r, 0.3)) {
        stage->least_given = true;
        stage->least = 0;
    }
}

/* A filter that moves change. */
static void live_filter(struct rng *r, struct stage_facts *stage, const char *counted, struct arena *a)
{
    static const char *const filters[] = {
        "[\"<\",\"$host.load\",0.5]", "[\"<\",\"$host.load\",0.8]",
        "[\">\",[\"default\",\"$host.free_mem_mb\",5000],[\"+\",\"$vm.mem_mb\",1500]]"};
    static const char *const of_counts[][2] = {
        {"[\"<=\",\"$host.used.", "\",[\"*\",\"$host.cores\",0.5]]"},
        {"[\">=\",[\"default\",\"$host.left.", "\",2],\"$vm.vcpus\"]"},
        {"[\"or\",[\"in\",\"$host.used.", "\",0,2,4,6],[\"<\",\"$host.load\",0.4]]"}};
    const char *const *of = of_counts[rng_below(r, 3)];

    stage->filter =
        read(counted && chance(r, 0.6) ? arena_printf(a, "%s%s%s", of[0], counted, of[1]) : OF(r, filters),
             expression_read, a);
}

/* Stages behind the filters. */
static void any_other(struct rng *r, struct stage_facts *stages, uint32_t k, bool tame, struct arena *a)
{
    struct stage_facts *stage = &stages[k];
    const char *counted = NULL;
    uint32_t kind = rng_below(r, 10);

    for (uint32_t i = 0; i < k; i++)
        if (stages[i].count.n > 0)
            counted = stages[i].name;
    if (kind < 3) {
        any_count(r, stage, tame, a);
    } else if (kind < 6) {
        any_score(r, stage, counted, a);
    } else if (kind >= 8) {
        live_filter(r, stage, counted, a);
    } else if (kind == 6) {
        stage->bucket = read(counted && chance(r, 0.5) ? arena_printf(a, "\"$host.used.%s\"", counted)
                                                       : "\"$host.attributes.tier\"",
                             expression_read_number, a);
    } else if (chance(r, 0.5)) {
        stage->cut = (struct cut_facts){
            .given = true, .from = 2, .to = tame ? -1e6 : -1, .steps = (tame ? 2 : 1) + rng_below(r, 5)};
    } else {
        stage->pick = (struct pick_facts){
            .given = true, .subset = rng_below(r, 3), .shuffle = chance(r, 0.5), .seed = rng_below(r, 9)};
    }
}

static void add_pipelines(struct rng *r, struct rng *units, struct inventory *inv, bool tame, struct arena *a)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct seen_pipeline *p = inventory_add_pipeline(inv, a);
        uint32_t filters = tame ? 1 + rng_below(r, 2) : 1 + rng_below(r, 4);
        uint32_t n = filters + rng_below(r, 4);
        struct stage_facts *stages = arena_array(a, struct stage_facts, n);

        p->name = i == 0 ? "p0" : "p1";
        for (uint32_t k = 0; k < n; k++) {
            stages[k].name = arena_printf(a, "s%u", k);
            if (k < filters)
                stages[k].filter = tame ? tame_filter(r, a) : any_filter(r, a);
            else
                any_other(r, stages, k, tame, a);
            if (k < filters && chance(units, 0.2))
                external_filter(units, &stages[k], tame, a);
            if (stages[k].cut.given || stages[k].pick.given)
                continue;
            stages[k].applies = rng_below(r, 4); /* 0: the default; 3: place and move */
            if (stages[k].applies & 1u << FIT_MOVE && chance(r, 0.3) &&
                ((stages[k].filter.n > 0 && !expression_is_live(&stages[k].filter)) || stages[k].count.n > 0))
                stages[k].applies |= 1u << FIT_CORRECT;
        }
        p->stages = (struct objects){.items = stages, .n = n};
    }
}

void random_fit(struct rng *r, struct inventory *inv, bool tame, struct arena *a)
{
    struct rng own = {.state = ~r->state}; /* of external units, which are beside the rest */

    add_groups(r, inv, a);
    add_pipelines(r, &own, inv, tame, a);
    add_answers(&own, inv, tame, a);
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *h = &inv->hosts[i].is;

        h->traits = some_traits(r, 0.7, a);
        h->attributes = attributes(r, tame, a);
        h->quantities = some_quantities(r, a);
    }
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct seen_vm *v = &inv->vms[i];

        if (v->is.kind == VM_AGENT || chance(r, 0.3))
            continue;
        v->pipeline = chance(r, 0.5) ? "p0" : "p1";
        v->is.owner = chance(r, 0.7) ? OF(r, traits) : NULL;
        v->is.flavor = attributes(r, tame, a);
        v->is.image = attributes(r, tame, a);
        v->is.hints = attributes(r, tame, a);
        v->is.groups = some_groups(r, a);
    }
}

/* ---- scores of moves ---- */

static void score_of_move(struct rng *r, struct stage_facts *s, struct arena *a)
{
    static const char *const scores[] = {
        "\"$host.attributes.speed\"",
        "\"$host.cores\"",
        "\"$host.left.n\"",
        "\"$host.used.n\"",
        "[\"-\",[\"most_of_hosts\",\"$host.used.n\"],\"$host.used.n\"]",
        "[\"-\",\"$host.cores\",[\"between_hosts\",\"$host.attributes.speed\"]]",
        "[\"if\",[\">=\",\"$host.attributes.speed\",\"$vm.flavor.speed\"],1,0]"};

    s->score = read(OF(r, scores), expression_read_number, a);
    if (chance(r, 0.2)) {
        s->external = OF(r, unit_names);
        s->score = read("[\"default\",\"$answer\",1]", expression_read_number, a);
    }
    s->normalise_given = true;
    s->normalise = (enum normalisation)rng_below(r, normalisation_count);
    if (chance(r, 0.4))
        s->multiplier =
            read(chance(r, 0.5) ? "2.5" : "[\"-\",\"$host.attributes.tier\",1.5]", expression_read_number, a);
}

static struct objects stages_of_move(struct rng *r, struct arena *a)
{
    struct stage_facts *s = arena_array(a, struct stage_facts, 6);
    uint32_t n = 0;

    s[n].name = "n";
    s[n].count = read(chance(r, 0.5) ? "1" : "\"$vm.vcpus\"", expression_read_number, a);
    s[n].limit = read("[\"*\",[\"+\",17,\"$vm.flavor.speed\"],\"$host.cores\"]", expression_read_number, a);
    if (chance(r, 0.3))
        s[n].per = read("\"$vm.groups\"", expression_read_texts, a);
    if (chance(r, 0.2))
        s[n].over = "rack";
    n++;
    if (chance(r, 0.5)) {
        s[n].name = "f";
        s[n++].filter = read("[\"<=\",\"$host.attributes.tier\",2]", expression_read, a);
    }
    for (uint32_t k = rng_below(r, 4); k > 0; k--) {
        s[n].name = arena_printf(a, "s%u", n);
        score_of_move(r, &s[n++], a);
    }
    if (n < 3 || chance(r, 0.3)) {
        s[n].name = "b";
        s[n++].bucket = read(chance(r, 0.3) ? "\"$host.used.n\"" : "\"$host.attributes.tier\"",
                             expression_read_number, a);
    }
    return (struct objects){.items = s, .n = n};
}

void random_scores(struct rng *r, struct inventory *inv, struct arena *a)
{
    add_groups(r, inv, a);
    add_answers(r, inv, false, a);
    for (uint32_t i = 0; i < 2; i++)
        *inventory_add_pipeline(inv, a) =
            (struct seen_pipeline){.name = i == 0 ? "p0" : "p1", .stages = stages_of_move(r, a)};
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct attribute *items = arena_array(a, struct attribute, 2);
        uint32_t n = 0;

        add(items, &n, "tier", (struct value){.type = VALUE_NUMBER, .number = rng_below(r, 4)});
        if (chance(r, 0.9))
            add(items, &n, "speed", (struct value){.type = VALUE_NUMBER, .number = rng_below(r, 7)});
        inv->hosts[i].is.attributes = (struct attributes){.items = items, .n = n};
    }
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct seen_vm *v = &inv->vms[i];
        struct attribute *items = arena_array(a, struct attribute, 1);
        uint32_t n = 0;

        if (v->is.kind == VM_AGENT || chance(r, 0.2))
            continue;
        add(items, &n, "speed", (struct value){.type = VALUE_NUMBER, .number = rng_below(r, 7)});
        v->pipeline = chance(r, 0.5) ? "p0" : "p1";
        v->is.flavor = (struct attributes){.items = items, .n = n};
        v->is.groups = some_groups(r, a);
    }
}
