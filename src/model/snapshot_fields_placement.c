/* snapshot_fields_placement.c: the tables of pipelines and of the answers of external units. */
#include "model/answers.h"
#include "model/expression.h"
#include "model/snapshot_field_macros.h"
#include "model/snapshot_fields.h"

#include <ballast/inventory.h>

ENUM_WORDS(normalisation, NORMALISATIONS);
ENUM_WORDS(fit_use, FIT_USES);
ENUM_WORDS(answer_failure, ANSWER_FAILURES);
ENUM_WORDS(stage_needs, STAGE_NEEDS);

/* clang-format off */
#define S struct stage_facts
static const struct field cut_fields[] = {
    F("from", FIELD_NUMBER, cut.from, REQ),
    F("to", FIELD_NUMBER, cut.to, REQ),
    F("steps", FIELD_COUNT, cut.steps, REQ),
};
static SCHEMA(cut_schema, "cut of a stage", cut_fields);
static const struct field pick_fields[] = {
    F("subset", FIELD_COUNT, pick.subset, OPT),
    F("shuffle", FIELD_BOOL, pick.shuffle, OPT),
    F("seed", FIELD_COUNT, pick.seed, OPT),
};
static SCHEMA(pick_schema, "pick of a stage", pick_fields);
static const struct field stage_fields[] = {
    F("name", FIELD_TEXT, name, REQ),
    F("external", FIELD_TEXT, external, OPT),
    EXPRESSION(filter, expression_read),
    {.name = "on_failure", .type = FIELD_WORD, .offset = offsetof(S, on_failure), .flags = OPT,
     .words = answer_failure_words, .given = offsetof(S, on_failure_given)},
    EXPRESSION(count, expression_read_number),
    EXPRESSION(limit, expression_read_number),
    EXPRESSION(per, expression_read_texts),
    F("over", FIELD_TEXT, over, OPT),
    F("off", FIELD_BOOL, off, OPT),
    EXPRESSION(score, expression_read_number),
    {.name = "normalise", .type = FIELD_WORD, .offset = offsetof(S, normalise), .flags = OPT,
     .words = normalisation_words, .given = offsetof(S, normalise_given)},
    EXPRESSION(multiplier, expression_read_number),
    GIVEN("least", FIELD_NUMBER, least),
    GIVEN("most", FIELD_NUMBER, most),
    O_GIVEN("cut", cut_schema, cut.given),
    EXPRESSION(bucket, expression_read_number),
    O_GIVEN("pick", pick_schema, pick.given),
    {.name = "needs", .type = FIELD_WORD, .offset = offsetof(S, needs), .flags = OPT,
     .words = stage_needs_words, .given = offsetof(S, needs_given)},
    {.name = "applies", .type = FIELD_FLAGS, .offset = offsetof(S, applies), .words = fit_use_words, .flags = OPT},
};
SCHEMA(snapshot_fields_stage, "stage", stage_fields);
#undef S

#define S struct seen_pipeline
static const struct field pipeline_fields[] = {
    F("name", FIELD_TEXT, name, REQ),
    ROWS("stages", stages, snapshot_fields_stage, struct stage_facts, STAGES_MAX, REQ,
         "the stages, in the order in which they are asked"),
    W("origin", origin, snapshot_origin_words, OPT),
};
SCHEMA(snapshot_fields_pipeline, "pipeline", pipeline_fields);
#undef S

#define S struct seen_answer
static const struct field answer_fields[] = {
    F("unit", FIELD_TEXT, unit, REQ),
    F("vms", FIELD_IDS, vms, REQ),
    GIVEN("hosts", FIELD_IDS, hosts),
    {.name = "scores", .type = FIELD_OWN, .offset = offsetof(S, scores), .given = offsetof(S, scores_given),
     .read = answer_scores_read, .write = answer_scores_write, .known = answer_scores_known, .flags = FIELD_OPTIONAL},
    {.name = "multipliers", .type = FIELD_OWN, .offset = offsetof(S, multipliers), .given = offsetof(S, multipliers_given),
     .read = answer_scores_read, .write = answer_scores_write, .known = answer_scores_known, .flags = FIELD_OPTIONAL},
    F("at", FIELD_INSTANT, at, REQ),
    F("words", FIELD_TEXT, words, OPT),
    F("error", FIELD_TEXT, error, OPT),
};
SCHEMA(snapshot_fields_answer, "answer", answer_fields);
#undef S
/* clang-format on */
