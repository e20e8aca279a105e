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
static SCHEMA(cut_schema, "cut of a stage",
    F("from", FIELD_NUMBER, cut.from, REQ),
    F("to", FIELD_NUMBER, cut.to, REQ),
    F("steps", FIELD_COUNT, cut.steps, REQ),
);
static SCHEMA(pick_schema, "pick of a stage",
    F("subset", FIELD_COUNT, pick.subset, OPT),
    F("shuffle", FIELD_BOOL, pick.shuffle, OPT),
    F("seed", FIELD_COUNT, pick.seed, OPT),
);
SCHEMA(snapshot_fields_stage, "stage",
    F("name", FIELD_TEXT, name, REQ),
    F("external", FIELD_TEXT, external, OPT),
    EXPRESSION(filter, expression_read),
    W_GIVEN("on_failure", on_failure, answer_failure_words),
    EXPRESSION(count, expression_read_number),
    EXPRESSION(limit, expression_read_number),
    EXPRESSION(per, expression_read_texts),
    F("over", FIELD_TEXT, over, OPT),
    F("off", FIELD_BOOL, off, OPT),
    EXPRESSION(score, expression_read_number),
    W_GIVEN("normalise", normalise, normalisation_words),
    EXPRESSION(multiplier, expression_read_number),
    GIVEN("least", FIELD_NUMBER, least),
    GIVEN("most", FIELD_NUMBER, most),
    O_GIVEN("cut", cut_schema, cut.given),
    EXPRESSION(bucket, expression_read_number),
    O_GIVEN("pick", pick_schema, pick.given),
    W_GIVEN("needs", needs, stage_needs_words),
    EXPRESSION(from, expression_read),
    EXPRESSION(first, expression_read_number),
    GIVEN("gap", FIELD_NUMBER, gap),
    EXPRESSION(vms, expression_read),
    EXPRESSION(smallest, expression_read_number),
    EXPRESSION(to, expression_read),
    EXPRESSION(fits, expression_read),
    EXPRESSION(reserve, expression_read),
    F("keep", FIELD_COUNT, keep, OPT),
    FIELD_OF(S, applies, FIELD_FLAGS, .words = fit_use_words, .flags = OPT),
);
#undef S

#define S struct pipeline_balance
SCHEMA(snapshot_fields_pipeline_balance, "balance of a pipeline",
    F("moves", FIELD_COUNT, moves, OPT),
    GIVEN("high", FIELD_NUMBER, high),
    GIVEN("low", FIELD_NUMBER, low),
);
#undef S

#define S struct seen_pipeline
SCHEMA(snapshot_fields_pipeline, "pipeline",
    F("name", FIELD_TEXT, name, REQ),
    ROWS("stages", stages, snapshot_fields_stage, struct stage_facts, STAGES_MAX, REQ,
         "the stages, in the order in which they are asked"),
    FIELD_AT("balance", S, balance, FIELD_OBJECT, .inner = &snapshot_fields_pipeline_balance, .flags = OPT,
             .given = offsetof(S, balance.given)),
    F("of_ovirt", FIELD_BOOL, of_ovirt, OPT),
    W("origin", origin, snapshot_origin_words, OPT),
);
#undef S

#define S struct seen_answer
#define SCORES(n, member)                                                                                    \
    FIELD_AT(n, S, member, FIELD_OWN, .given = offsetof(S, member##_given), .read = answer_scores_read,      \
             .write = answer_scores_write, .known = answer_scores_known, .flags = FIELD_OPTIONAL)
SCHEMA(snapshot_fields_answer, "answer",
    F("unit", FIELD_TEXT, unit, REQ),
    F("vms", FIELD_IDS, vms, REQ),
    GIVEN("hosts", FIELD_IDS, hosts),
    SCORES("scores", scores),
    SCORES("multipliers", multipliers),
    F("at", FIELD_INSTANT, at, REQ),
    F("words", FIELD_TEXT, words, OPT),
    F("error", FIELD_TEXT, error, OPT),
);
#undef S
/* clang-format on */
