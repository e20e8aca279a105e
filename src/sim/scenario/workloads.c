/* workloads.c: the demand of VMs: from the file's sections to struct workload. */
#include "sim/scenario/build.h"

#include "base/rng.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 64
#define STEP_S 60
#define STEP_LEAST_S 1
#define LEVEL_MOST 1e9
#define REPEAT_LEAST_S 1 /* a shorter period would take too many steps */

ENUM_WORDS(kind, WORKLOAD_KINDS);
ENUM_WORDS(format, TRACE_FORMATS);
static const char *const pick_words[] = {"order", "name", NULL};
static const char *const missing_words[] = {"error", "keep", NULL};
static const char *const time_unit_words[] = {"s", "ms", NULL};

static int read_levels(const struct reader *f, const struct node *n, void *at)
{
    const struct field number = {.type = FIELD_NUMBER, .max = LEVEL_MOST};
    struct workload *w = (struct workload *)((char *)at - offsetof(struct workload, levels));
    uint32_t i = 0;
    int r = reader_list_check(f, n, "a list of levels", LEVELS_MAX);

    if (r < 0)
        return r;
    if (n->n == 0)
        return reader_complain(f, n, "is empty, expected a list of levels");
    double *levels = arena_array(f->a, double, n->n);

    for (const struct node *c = n->first; r == 0 && c; c = c->next, i++)
        r = reader_value(f, c, &number, &levels[i]);
    w->levels = levels;
    w->n_levels = (uint32_t)n->n;
    return r;
}

static int read_phase(const struct reader *f, const struct node *n, void *at)
{
    struct workload_spec *s =
        (struct workload_spec *)((char *)at - offsetof(struct workload_spec, w.phase_s));
    const struct field number = {.type = FIELD_NUMBER, .max = TIME_MOST};

    s->phase = n->kind == NODE_SCALAR && strcmp(n->text, "random") == 0 ? PHASE_RANDOM : PHASE_GIVEN;
    s->w.phase_s = 0;
    if (s->phase == PHASE_RANDOM || (n->kind == NODE_SCALAR && strcmp(n->text, "together") == 0))
        return 0;
    if (n->kind == NODE_SCALAR && !strpbrk(n->text, "0123456789"))
        return reader_refuse(f, n, "together, random or seconds");
    return reader_value(f, n, &number, at);
}

/* The kinds with this key, and the kinds that require it. */
#define IN(kind) (1u << WORKLOAD_##kind)
#define ALL ((1u << workload_kind_count) - 1)
#define DRAWN (IN(NORMAL) | IN(UNIFORM))
#define GENERATED (IN(OFFICE) | IN(BURSTY) | IN(SURGE) | IN(BATCH))

static const struct {
    const char *key;
    unsigned known, needed;
} keys_of_kinds[] = {
    {"kind", ALL, 0},
    {"scale", ALL, 0},
    {"level", IN(CONSTANT) | IN(HIGH_LOW) | IN(SPIKE) | IN(RAMP),
     IN(CONSTANT) | IN(HIGH_LOW) | IN(SPIKE) | IN(RAMP)},
    {"levels", IN(HIGH_LOW), IN(HIGH_LOW)},
    {"high", DRAWN | IN(SPIKE) | IN(RAMP) | GENERATED, DRAWN | IN(SPIKE) | IN(RAMP)},
    {"high_spread", DRAWN | GENERATED, 0},
    {"low", DRAWN | GENERATED, 0},
    {"low_spread", DRAWN | GENERATED, 0},
    {"high_s", IN(HIGH_LOW) | DRAWN | IN(BURSTY) | IN(SURGE) | IN(BATCH), IN(HIGH_LOW)},
    {"low_s", IN(HIGH_LOW) | DRAWN | IN(BURSTY), 0},
    {"step_s", DRAWN | IN(RAMP) | IN(TRACE) | GENERATED, 0},
    {"phase", IN(HIGH_LOW) | DRAWN | IN(TRACE), 0},
    {"from_s", IN(SPIKE) | IN(RAMP) | IN(OFFICE) | IN(SURGE) | IN(BATCH), IN(SPIKE) | IN(RAMP)},
    {"until_s", IN(SPIKE) | IN(RAMP) | IN(OFFICE), IN(SPIKE) | IN(RAMP)},
    {"file", IN(TRACE), 0},
    {"dir", IN(TRACE), 0},
    {"format", IN(TRACE), 0},
    {"pick", IN(TRACE), 0},
    {"missing", IN(TRACE), 0},
    {"rise_s", IN(OFFICE) | IN(SURGE), 0},
    {"spread_s", IN(OFFICE) | IN(SURGE) | IN(BATCH), 0},
    {"every_s", IN(SURGE) | IN(BATCH), 0},
    {"vary_s", IN(SURGE), 0},
    {"part", IN(SURGE), 0},
    {"percent", IN(TRACE) | GENERATED, 0},
    {"linear", IN(TRACE), 0},
    {"repeat", IN(TRACE), 0},
};

#define AT(member) offsetof(struct workload_spec, member)
#define NUMBER(key, member, low, high, text)                                                                 \
    {                                                                                                        \
        (key), FIELD_NUMBER, AT(member), (low), (high), NULL, NULL, (text)                                   \
    }
/* clang-format off */
#define SOURCE_KEYS                                                                                          \
    {"dir", FIELD_PATH, AT(dir), .meaning = "a folder of traces"},                                             \
    {"file", FIELD_PATH, AT(file), .meaning = "a file with one trace, or with those of many VMs"},             \
    {"format", FIELD_WORD, AT(format), .words = format_words, .meaning = "of the traces"},                     \
    {"pick", FIELD_WORD, AT(pick), .words = pick_words,                                                        \
     .meaning = "which trace a VM gets: the next one in order, or the one of its name"},                     \
    {"missing", FIELD_WORD, AT(missing), .words = missing_words,                                               \
     .meaning = "what becomes of a VM of the snapshot that has no trace of its name"},                       \
    {"percent", FIELD_BOOL, AT(percent), .meaning = "the values are percent of what the VM can use at most"},  \
    {"linear", FIELD_BOOL, AT(w.linear), .meaning = "a line from sample to sample, in steps of step_s"},       \
    {"repeat", FIELD_BOOL, AT(w.repeat), .meaning = "begins again when it has ended; else its last value stays"}, \
    NUMBER("scale", w.scale, 0, 1e6, "times what the rest says"),                                            \
    NUMBER("step_s", w.step_s, STEP_LEAST_S, TIME_MOST, "seconds between two draws, or of a step of a line"), \
    {"phase", FIELD_OWN, AT(w.phase_s), .read = read_phase,                                                    \
     .meaning = "where in its period it begins: together (at its beginning), random or seconds"}

/* The section `workload`: what all traces have, and columns. */
struct source_spec {
    struct workload_spec spec;
    struct columns_spec columns;
};

#define OF_COLUMNS(member) offsetof(struct source_spec, columns.member)
#define COLUMN_KEY(word, part, text)                                                                         \
    {                                                                                                        \
        (word), FIELD_OBJECT, OF_COLUMNS(of) + (part) * sizeof(struct column_spec), .inner = &column_keys,   \
            .meaning = (text), .given = OF_COLUMNS(of) + (part) * sizeof(struct column_spec) +               \
                                        offsetof(struct column_spec, given)                                  \
    }

static const struct field source_key_list[] = {
    SOURCE_KEYS,
    {"vm", FIELD_TEXT, OF_COLUMNS(vm), .meaning = "the label, or the column, with the VM's id or name"},
    {"time", FIELD_TEXT, OF_COLUMNS(time), .meaning = "table: the column with the time"},
    {"time_unit", FIELD_WORD, OF_COLUMNS(time_unit), .words = time_unit_words,
     .meaning = "table: of times that are numbers, since 1970"},
    {"delimiter", FIELD_TEXT, OF_COLUMNS(delimiter), .meaning = "table: one character, or tab"},
    {"header", FIELD_BOOL, OF_COLUMNS(header), .meaning = "table: the first line names the columns"},
    {"from", FIELD_TEXT, OF_COLUMNS(from), .meaning = "the date of t = 0"},
    COLUMN_KEY("cpu", TRACE_CPU, "the CPU that a VM wants"),
    COLUMN_KEY("mem", TRACE_MEM, "the memory that a VM uses"),
    COLUMN_KEY("vcpus", TRACE_VCPUS, "its number of vCPUs"),
    COLUMN_KEY("mem_size", TRACE_MEM_SIZE, "its configured memory"),
};

static const struct field workload_key_list[] = {
    {"kind", FIELD_WORD, AT(kind), .words = kind_words, .meaning = "its course over time"},
    NUMBER("level", w.level, 0, LEVEL_MOST, "MHz or MiB"),
    {"levels", FIELD_OWN, AT(w.levels), .read = read_levels, .meaning = "MHz or MiB, one of which is drawn"},
    NUMBER("high", w.high, 0, LEVEL_MOST, "MHz or MiB in the high phase, at the top"),
    NUMBER("high_spread", w.high_spread, 0, LEVEL_MOST, "how far around that"),
    NUMBER("low", w.low, 0, LEVEL_MOST, "MHz or MiB in the low phase"),
    NUMBER("low_spread", w.low_spread, 0, LEVEL_MOST, "how far around that"),
    NUMBER("high_s", w.high_s, STEP_LEAST_S, TIME_MOST, "seconds of the high phase"),
    NUMBER("low_s", w.low_s, 0, TIME_MOST, "seconds of the low phase"),
    NUMBER("from_s", w.from_s, 0, TIME_MOST, "seconds at which it begins"),
    NUMBER("until_s", w.until_s, 0, TIME_MOST, "seconds at which it ends"),
    NUMBER("rise_s", w.rise_s, 0, TIME_MOST, "seconds from low to high, and back"),
    NUMBER("spread_s", w.spread_s, 0, TIME_MOST, "seconds by which VMs differ at most"),
    NUMBER("every_s", w.every_s, 0, TIME_MOST, "seconds between two surges, or two jobs of a VM"),
    NUMBER("vary_s", w.vary_s, 0, TIME_MOST, "seconds that a surge may come later, for all VMs alike"),
    NUMBER("part", w.part, 0, 1, "the part of the VMs that rise, drawn for each surge"),
    SOURCE_KEYS,
};
/* clang-format on */

const struct schema source_keys = SCHEMA_OF("", source_key_list);
const struct schema workload_keys = SCHEMA_OF("", workload_key_list);

/* Defaults of the generators; high and low are parts of the most that the VM can use. */
static const struct generator {
    double high, low;
    double from_s, until_s, rise_s, spread_s, high_s, low_s, every_s, vary_s, part;
} generators[workload_kind_count] = {
    [WORKLOAD_OFFICE] =
        {.high = 0.5, .low = 0.05, .from_s = 28800, .until_s = 61200, .rise_s = 3600, .spread_s = 3600},
    [WORKLOAD_BURSTY] = {.high = 1, .low = 0.05, .high_s = 300, .low_s = 3600},
    [WORKLOAD_SURGE] = {.high = 0.8,
                        .low = 0.1,
                        .from_s = 7200,
                        .rise_s = 60,
                        .spread_s = 120,
                        .high_s = 3600,
                        .every_s = 21600,
                        .vary_s = 7200,
                        .part = 0.9},
    [WORKLOAD_BATCH] =
        {.high = 1, .low = 0.02, .from_s = 79200, .spread_s = 14400, .high_s = 3600, .every_s = 86400},
};

#define NOISE 0.2 /* of the level: the default of the standard deviation */

static bool is_generated(int kind)
{
    return (1u << kind & GENERATED) != 0;
}

/* high, low and their spreads stay unknown until the VM's size is known. */
static struct workload_spec generator_spec(enum workload_kind kind)
{
    const struct generator *g = &generators[kind];

    return (struct workload_spec){.w = {.scale = 1,
                                        .step_s = STEP_S,
                                        .high = UNKNOWN,
                                        .low = UNKNOWN,
                                        .high_spread = UNKNOWN,
                                        .low_spread = UNKNOWN,
                                        .from_s = g->from_s,
                                        .until_s = g->until_s,
                                        .rise_s = g->rise_s,
                                        .spread_s = g->spread_s,
                                        .high_s = g->high_s,
                                        .low_s = g->low_s,
                                        .every_s = g->every_s,
                                        .vary_s = g->vary_s,
                                        .part = g->part}};
}

/* whole: what the levels are parts of, in the unit of the file. */
static void fill_levels(struct workload *w, double whole)
{
    const struct generator *g = &generators[w->kind];

    w->high = isnan(w->high) ? g->high * whole : w->high;
    w->low = isnan(w->low) ? fmin(g->low * whole, w->high) : w->low;
    w->high_spread = isnan(w->high_spread) ? NOISE * w->high : w->high_spread;
    w->low_spread = isnan(w->low_spread) ? NOISE * w->low : w->low_spread;
}

#define DAY_S 86400
#define GAP_LEAST 0.1   /* of a burst: bursts would hardly ever end */
#define JOB_LONGEST 1.5 /* of high_s */

/* The times of a generator must leave room for what happens in a day or a period. */
static int check_times(const struct reader *f, const struct node *n, const struct workload_spec *s)
{
    const struct workload *w = &s->w;
    double surge_s = w->vary_s + w->spread_s + 2 * w->rise_s + w->high_s;

    if (s->kind == WORKLOAD_OFFICE && w->from_s + w->rise_s > w->until_s)
        return reader_complain(f, n, ".until_s is %.12g, expected from_s + rise_s (%.12g) or later",
                               w->until_s, w->from_s + w->rise_s);
    if (s->kind == WORKLOAD_OFFICE && w->until_s + w->rise_s > DAY_S)
        return reader_complain(f, n, ".until_s + rise_s is %.12g, expected at most a day (%d)",
                               w->until_s + w->rise_s, DAY_S);
    if (s->kind == WORKLOAD_BURSTY && w->low_s < GAP_LEAST * w->high_s)
        return reader_complain(f, n, ".low_s is %.12g, expected at least a tenth of high_s (%.12g)", w->low_s,
                               GAP_LEAST * w->high_s);
    if (s->kind == WORKLOAD_SURGE && w->every_s > 0 && surge_s > w->every_s)
        return reader_complain(
            f, n,
            ".every_s is %.12g, expected 0 (once) or vary_s + spread_s + 2 rise_s + high_s "
            "(%.12g) or more",
            w->every_s, surge_s);
    if (s->kind == WORKLOAD_BATCH && (w->every_s < JOB_LONGEST * w->high_s))
        return reader_complain(f, n,
                               ".every_s is %.12g, expected the longest job (1.5 high_s, %.12g) or more",
                               w->every_s, JOB_LONGEST * w->high_s);
    return 0;
}

/* A key without effect on the kind is an error: it is a misunderstanding. */
static int check_kind(const struct reader *f, const struct node *n, const struct workload_spec *s)
{
    for (size_t i = 0; i < sizeof keys_of_kinds / sizeof *keys_of_kinds; i++) {
        const struct node *given = node_child(n, keys_of_kinds[i].key);
        if (given && !(keys_of_kinds[i].known & 1u << s->kind))
            return reader_complain(f, given, "means nothing for kind %s, expected it with others only",
                                   kind_words[s->kind]);
        if (!given && keys_of_kinds[i].needed & 1u << s->kind)
            return reader_complain(f, n, ".%s is missing, expected it for kind %s", keys_of_kinds[i].key,
                                   kind_words[s->kind]);
    }
    if ((s->kind == WORKLOAD_SPIKE || s->kind == WORKLOAD_RAMP) && s->w.until_s <= s->w.from_s)
        return reader_complain(f, n, ".until_s is %.12g, expected more than from_s (%.12g)", s->w.until_s,
                               s->w.from_s);
    if ((1u << s->kind & DRAWN) && s->w.low_s > 0 && (!node_child(n, "low") || !node_child(n, "high_s")))
        return reader_complain(f, n, "has low_s without %s, expected both phases to be described",
                               node_child(n, "low") ? "high_s" : "low");
    if (node_child(n, "file") && node_child(n, "dir"))
        return reader_complain(f, n, "has both file and dir, expected one of them");
    if (columns_has(s->format) && (node_child(n, "file") || node_child(n, "dir") || node_child(n, "format")))
        return reader_complain(f, n,
                               "has a trace of its own of the format %s, expected one that is described in "
                               "workload at the top",
                               trace_format_name((enum trace_format)s->format));
    return is_generated(s->kind) ? check_times(f, n, s) : 0;
}

/* A key that no kind has is answered with the keys of this kind. */
static int check_keys(const struct reader *f, const struct node *n, int kind)
{
    for (const struct node *c = n->first; c; c = c->next) {
        const char *list = "";
        bool known = false;
        for (size_t i = 0; i < sizeof keys_of_kinds / sizeof *keys_of_kinds; i++) {
            const char *key = keys_of_kinds[i].key;
            known = known || strcmp(key, c->key) == 0;
            if (keys_of_kinds[i].known & 1u << kind)
                list = arena_printf(f->a, "%s%s%s", list, *list ? ", " : "", key);
        }
        if (!known)
            return reader_complain(f, c, "is not known, expected one of the keys of kind %s: %s",
                                   kind_words[kind], list);
    }
    return 0;
}

static struct workload_spec default_spec(void)
{
    return (struct workload_spec){.w = {.scale = 1, .step_s = STEP_S}, .from_s = UNKNOWN};
}

static int read_one(const struct reader *f, const struct node *n, struct workload_spec *ret)
{
    struct workload_spec s = ((const struct building *)f->context)->source;

    s.given = true;
    s.line = n->line;
    if (n->kind == NODE_SCALAR && !node_is_null(n)) { /* a level, or "trace" */
        const struct field number = {.type = FIELD_NUMBER, .max = LEVEL_MOST};
        s.kind = strcmp(n->text, "trace") == 0 ? WORKLOAD_TRACE : WORKLOAD_CONSTANT;
        if (s.kind == WORKLOAD_CONSTANT) {
            s.w.scale = 1;
            int r = reader_value(f, n, &number, &s.w.level);
            if (r < 0)
                return r;
        }
        *ret = s;
        return 0;
    }
    const struct node *kind = n->kind == NODE_MAP ? node_child(n, "kind") : NULL;

    if (!kind)
        return reader_complain(f, n, "has no kind, expected a number, trace or {kind: ...}");
    if (kind->kind != NODE_SCALAR || strcmp(kind->text, "trace") != 0)
        s = default_spec();
    for (int k = 0; kind->kind == NODE_SCALAR && k < workload_kind_count; k++) {
        if (strcmp(kind->text, kind_words[k]) != 0)
            continue;
        int r = check_keys(f, n, k);
        if (r < 0)
            return r;
        if (is_generated(k))
            s = generator_spec((enum workload_kind)k);
    }
    s.given = true;
    s.line = n->line;
    if (node_child(n, "file") || node_child(n, "dir") || node_child(n, "format")) {
        if (node_child(n, "file") || node_child(n, "dir"))
            s.file = s.dir = NULL; /* instead of the scenario's own */
        s.columns = NULL;
    }
    int r = reader_object(f, n, &workload_keys, &s);

    if (r == 0 && (r = check_kind(f, n, &s)) == 0)
        *ret = s;
    return r;
}

static int read_resource(const struct reader *f, const struct node *n, void *at)
{
    return read_one(f, n, at);
}

static const struct field resource_key_list[] = {
    {"cpu", FIELD_OWN, RES_CPU * sizeof(struct workload_spec), .read = read_resource,
     .meaning = "MHz: a number, trace or {kind: ...}"},
    {"mem", FIELD_OWN, RES_MEM * sizeof(struct workload_spec), .read = read_resource,
     .meaning = "MiB: a number, trace or {kind: ...}; all that is configured where it is not given"},
};

const struct schema resource_keys = SCHEMA_OF("", resource_key_list);

int workloads_read(const struct reader *f, const struct node *n, void *at)
{
    struct workload_spec *both = at;

    if (n->kind == NODE_SCALAR && strcmp(n->text, "trace") == 0) {
        int r = read_one(f, n, &both[RES_CPU]);
        if (r < 0)
            return r;
        both[RES_MEM] = both[RES_CPU];
        both[RES_MEM].if_traced = true;
        return 0;
    }
    return reader_object(f, n, &resource_keys, at);
}

/* ---- construction ---- */

static const char *set_path(const struct workload_spec *s)
{
    return s->file ? s->file : s->dir;
}

static bool is_of(const struct trace_source *source, const struct workload_spec *s)
{
    if (s->columns)
        return source->columns == s->columns;
    return !source->columns && source->format == s->format && strcmp(source->path, set_path(s)) == 0;
}

/* The traces of a spec, read at first use. */
static int find_set(struct building *b, const struct workload_spec *s, struct trace_source **ret)
{
    const char *path = s->columns ? s->columns->of[TRACE_CPU].path : set_path(s);
    struct trace_texts *texts = b->options ? b->options->texts : NULL;

    if (!path)
        return reader_complain_line(&b->f, s->line,
                                    "there are no traces, expected workload.dir or workload.file");
    for (size_t i = 0; i < b->n_sources; i++) {
        if (is_of(b->sources[i], s)) {
            *ret = b->sources[i];
            return 0;
        }
    }
    struct trace_source *source = arena_new(b->f.a, struct trace_source);
    enum trace_format format = (enum trace_format)s->format;
    int r = s->columns ? trace_set_read_columns(s->columns, format, texts, b->f.a, &source->set, b->f.err)
                       : trace_set_read(path, format, s->from_s, texts, b->f.a, &source->set, b->f.err);

    if (r < 0) {
        (void)err_widen(b->f.err, "%s", reader_place(&b->f, s->line));
        return -EINVAL;
    }
    source->path = path;
    source->format = s->format;
    source->columns = s->columns;
    b->sources = arena_grow(b->f.a, b->sources, b->n_sources, &b->cap_sources, sizeof *b->sources);
    b->sources[b->n_sources++] = source;
    *ret = source;
    return 0;
}

static void warn(struct building *b, unsigned line, const char *text)
{
    struct scenario *s = b->s;

    s->warnings = arena_grow(b->f.a, s->warnings, s->n_warnings, &b->cap_warnings, sizeof *s->warnings);
    s->warnings[s->n_warnings++] = arena_printf(b->f.a, "%s: %s", reader_place(&b->f, line), text);
}

static int read_columns_now(struct building *b, bool start_given)
{
    struct trace_source *source;
    int r = find_set(b, &b->source, &source);

    if (r < 0)
        return r;
    const double length_s = source->set.n > 0 ? source->set.vms[0].of[RES_CPU].length_s : 0;

    if (source->set.note)
        warn(b, b->source.line, source->set.note);
    if (length_s < b->s->duration_s && !b->source.w.repeat)
        warn(b, b->source.line,
             arena_printf(b->f.a,
                          "the traces last %.0f s of the %.0f s of duration_s; then the last value holds",
                          length_s, b->s->duration_s));
    b->start_of_traces = !start_given;
    if (!start_given)
        b->s->start = (instant_s)source->set.from_s;
    return 0;
}

int workloads_read_source(struct building *b, const struct node *n, bool start_given)
{
    struct source_spec source = {.spec = default_spec(), .columns = columns_default()};
    struct workload_spec *s = &source.spec;

    s->kind = WORKLOAD_TRACE;
    b->source = *s;
    if (!n)
        return 0;
    int r = reader_object(&b->f, n, &source_keys, &source);

    if (r == 0 && s->file && s->dir)
        return reader_complain_line(&b->f, n->line, "workload has both file and dir, expected one of them");
    if (r < 0 || (r = columns_make(&b->f, n, &source.columns, s)) < 0)
        return r;
    s->line = n->line;
    if (s->columns && !node_child(n, "pick")) /* their VMs have names */
        s->pick = PICK_NAME;
    b->source = *s;
    return s->columns ? read_columns_now(b, start_given) : 0;
}

int workloads_traces(struct building *b, const struct node *group, const struct vm_spec *spec,
                     struct trace_names *ret)
{
    const struct workload_spec *s = &spec->workload[RES_CPU];
    struct trace_source *source;

    if (!s->given || s->kind != WORKLOAD_TRACE)
        return reader_complain(&b->f, group,
                               ".workload.cpu is no trace, expected one where traces are counted");
    int r = find_set(b, s, &source);
    if (r < 0)
        return r;
    const char **items = arena_array(b->f.a, const char *, source->set.n);

    for (uint32_t i = 0; i < source->set.n; i++)
        items[i] = source->set.vms[i].name;
    *ret = (struct trace_names){.items = items, .n = source->set.n};
    return source->set.n
               ? 0
               : reader_complain_line(&b->f, group->line, "%s holds no trace, expected some", source->path);
}

static int by_name(const void *key, const void *item)
{
    return strcmp(key, ((const struct traced_vm *)item)->name);
}

static const struct traced_vm *named(const struct trace_set *set, const struct vm_spec *v)
{
    const struct traced_vm *found = bsearch(v->seen.is.id, set->vms, set->n, sizeof *set->vms, by_name);

    if (!found && v->seen.is.name)
        found = bsearch(v->seen.is.name, set->vms, set->n, sizeof *set->vms, by_name);
    return found;
}

/* The VM's trace: the next one, the one with its name, or the only one of a file. Both resources use one
 * trace. */
static int find_trace(struct building *b, struct vm_spec *v, const struct workload_spec *s,
                      const struct traced_vm **ret)
{
    struct trace_source *source;
    int r = find_set(b, s, &source);

    if (r < 0)
        return r;
    const struct trace_set *set = &source->set;
    const struct traced_vm *found = NULL;

    if (v->traced_from == source)
        found = v->traced;
    else if (s->pick == PICK_NAME || v->names == NAMES_TRACES)
        found = named(set, v);
    else if (s->file && set->n == 1)
        found = &set->vms[0];
    else if (source->next < set->n)
        found = &set->vms[source->next++];
    if (!found && s->pick == PICK_NAME && s->missing == MISSING_KEEP && v->of_snapshot) {
        *ret = NULL;
        return 0;
    }
    if (!found && (s->pick == PICK_NAME || v->names == NAMES_TRACES))
        return reader_complain_line(&b->f, s->line, "%s has no trace of VM \"%s\", expected one of its name",
                                    source->path, v->seen.is.name);
    if (!found)
        return reader_complain_line(&b->f, s->line, "%s has %u traces, expected one more for VM \"%s\"",
                                    source->path, set->n, v->seen.is.name);
    v->traced_from = source;
    v->traced = found;
    *ret = found;
    return 0;
}

static void sizes_from_trace(struct vm_spec *v, const struct traced_vm *t)
{
    if (v->vcpus_traced && t->vcpus > 0) {
        v->seen.is.vcpus = t->vcpus;
        if (isnan(v->vcpu_mhz) && t->cpu_mhz > 0)
            v->vcpu_mhz = t->cpu_mhz / t->vcpus;
    }
    if (v->mem_traced)
        v->seen.is.mem_mb = t->mem_mb;
}

/* Assigns a trace to the VM; its sizes may depend on the trace. */
static int take_trace(struct building *b, struct vm_spec *v)
{
    const struct traced_vm *t = NULL;

    for (int r = 0; r < RES_COUNT; r++) {
        struct workload_spec *s = &v->workload[r];
        if (!s->given || s->kind != WORKLOAD_TRACE)
            continue;
        int e = find_trace(b, v, s, &t);
        if (e < 0)
            return e;
        if (!t) {
            b->kept += r == RES_CPU;
            *s = default_spec(); /* not given */
            continue;
        }
        if (t->of[r].n == 0 && s->if_traced)
            *s = default_spec(); /* not given */
        else if (t->of[r].n == 0)
            return reader_complain_line(&b->f, s->line,
                                        "the trace \"%s\" says nothing about %s, expected another one",
                                        t->name, r == RES_CPU ? "CPU" : "memory");
        if (s->w.repeat && t->of[r].length_s < REPEAT_LEAST_S)
            return reader_complain_line(
                &b->f, s->line, "the trace \"%s\" lasts %.3g s, expected %d s or more of one to repeat",
                t->name, t->of[r].length_s, REPEAT_LEAST_S);
        s->w.trace = &t->of[r];
        s->percent = s->percent || s->format == TRACE_PLANETLAB;
    }
    if (t)
        sizes_from_trace(v, t);
    if (v->seen.is.mem_mb <= 0)
        return reader_complain_line(&b->f, v->line, "VM \"%s\" has no mem_mb and no trace that says it",
                                    v->seen.is.id);
    return 0;
}

/* The period of the workload, as far as one is known. */
static double period_of(const struct workload *w)
{
    if (w->kind == WORKLOAD_TRACE)
        return w->trace->length_s;
    return w->high_s + w->low_s;
}

static double week_s_at(instant_s start)
{
    const int64_t week_s = 7 * DAY_S;
    const int64_t monday_s = 4 * DAY_S; /* 1970-01-05 */

    return (double)(((start - monday_s) % week_s + week_s) % week_s);
}

static void fill_generator(const struct building *b, const struct vm_spec *v, struct workload *w,
                           double whole)
{
    fill_levels(w, whole);
    w->week_s = week_s_at(b->s->start);
    w->event_seed = workload_seed(b->seed, v->seen.is.id, "events");
    w->common_seed = workload_seed(b->seed, "", "common");
    w->phase_s = workload_own_shift(w);
}

static enum trace_unit unit_of(const struct workload_spec *s, enum resource r)
{
    return s->columns && s->w.trace ? s->columns->of[r == RES_CPU ? TRACE_CPU : TRACE_MEM].unit
                                    : TRACE_UNIT_NONE;
}

static void finish(const struct building *b, struct vm_spec *v, enum resource r)
{
    static const char *const words[RES_COUNT] = {"cpu", "mem"};
    const char *id = v->seen.is.id;
    struct workload_spec *s = &v->workload[r];
    struct workload *w = &s->w;

    if (!s->given) {
        *s = default_spec();
        w->level = v->of_snapshot ? v->seen.is.demand[r] : v->seen.is.mem_mb;
    }
    w->kind = (enum workload_kind)s->kind;
    w->seed = workload_seed(b->seed, id, words[r]);
    w->max = r == RES_CPU ? v->seen.is.vcpus * v->vcpu_mhz : v->seen.is.mem_mb;
    if (!s->given)
        w->max = fmax(w->max, w->level);
    if (is_generated(s->kind))
        fill_generator(b, v, w, s->percent ? 100 : w->max);
    if (s->percent || unit_of(s, r) == TRACE_PERCENT)
        w->scale *= w->max / 100;
    if (unit_of(s, r) == TRACE_CORES || unit_of(s, r) == TRACE_SECONDS)
        w->scale *= v->vcpu_mhz;
    if (s->phase == PHASE_RANDOM) {
        struct rng rng = {.state = workload_seed(b->seed, id, "phase")};
        w->phase_s = floor(rng_range(&rng, 0, period_of(w)));
    }
    v->model.of[r] = *w;
}

static void begin_with(struct vm_spec *v)
{
    struct vm_facts *is = &v->seen.is;
    bool on = is->state == VM_ON;
    bool same = v->of_snapshot && on;

    for (int r = 0; r < RES_COUNT; r++) {
        double now = on ? workload_at(&v->model.of[r], 0).value : 0;
        same = same && now == is->demand[r];
        is->demand[r] = now;
    }
    if (!same)
        vm_facts_windows(is);
    if (!isnan(v->consumed_mb))
        is->consumed_mb = v->consumed_mb;
    else
        is->consumed_mb = on ? is->demand[RES_MEM] : is->mem_mb;
}

int workloads_build(struct building *b)
{
    for (size_t i = 0; i < b->n_vms; i++) {
        struct vm_spec *v = &b->vms[i];
        int r = take_trace(b, v);
        if (r < 0)
            return r;
        if (!v->of_snapshot && !v->workload[RES_CPU].given)
            return reader_complain_line(&b->f, v->line, "VM \"%s\" has no workload.cpu, expected its demand",
                                        v->seen.is.id);
        v->vcpu_mhz_given = !isnan(v->vcpu_mhz);
        if (!v->vcpu_mhz_given)
            v->vcpu_mhz = b->core_mhz;
        vms_finish(b, v);
        for (int res = 0; res < RES_COUNT; res++)
            finish(b, v, (enum resource)res);
        begin_with(v);
    }
    if (b->kept > 0)
        warn(b, b->source.line,
             arena_printf(b->f.a, "%u VMs of the snapshot have no trace and keep their demand", b->kept));
    return 0;
}
