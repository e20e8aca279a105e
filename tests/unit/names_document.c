/* conf/names.md says what names.h and the table of settings say: no word more, none less, with the same
 * meaning.
 *
 * It is made from them. When a word changes: unit-names_document --print > conf/names.md */
#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include "engine/engine.h"
#include "schema/field.h"

#include <ballast/policy.h>

#include <stdio.h>
#include <string.h>

struct word_list {
    const char *title, *about;
    int n;
    const char *(*name)(int value);
    const char *(*meaning)(int value);
};

#define LIST(list)                                                                                           \
    static const char *list##_word(int value)                                                                \
    {                                                                                                        \
        return list##_name((enum list)value);                                                                \
    }                                                                                                        \
    static const char *list##_text(int value)                                                                \
    {                                                                                                        \
        return list##_meaning((enum list)value);                                                             \
    }

LIST(host_state)
LIST(failure_detection)
LIST(vm_state)
LIST(offer_kind)
LIST(vm_kind)
LIST(automation)
LIST(rule_kind)
LIST(rule_origin)
LIST(ha_policy)
LIST(mem_admission)
LIST(objective)
LIST(balancer)
LIST(search_kind)
LIST(action_kind)
LIST(reason)
LIST(fault_code)
LIST(verdict)
LIST(check)
LIST(power_check)
LIST(action_state)
LIST(role)
LIST(four_eyes_action)
LIST(change_kind)
LIST(event_kind)
LIST(roll_step)
LIST(alike_days)
LIST(uneven)
LIST(expression_operator)
LIST(expression_variable)
LIST(normalisation)
LIST(fit_use)
LIST(answer_failure)
LIST(stage_needs)

#define ENTRY(list) list##_count, list##_word, list##_text

static const struct word_list lists[] = {
    {"Actions", "`action` of a recommendation.", ENTRY(action_kind)},
    {"Reasons", "`reason` of a recommendation: why it is made.", ENTRY(reason)},
    {"Faults", "`code` of a fault: what could not be done.", ENTRY(fault_code)},
    {"Verdicts", "`verdict` of `ballast explain` on a host.", ENTRY(verdict)},
    {"Checks",
     "`check` of `ballast explain`, and the keys of a plan's `stats.rejected`. They are asked in this order, "
     "and the "
     "first that\nfails decides.",
     ENTRY(check)},
    {"Power checks",
     "`check` of `ballast explain --host` without a VM: why a host stays on, or asleep. They are asked in "
     "this order, and\nthe first that fails decides.",
     ENTRY(power_check)},
    {"Action states", "Where the service is with an action.", ENTRY(action_state)},
    {"Roles", "How much a user may do; each includes those before it.", ENTRY(role)},
    {"Actions of two people", "`four_eyes.actions`: what begins when two people have asked for it.",
     ENTRY(four_eyes_action)},
    {"Events",
     "`kind` of an event (`ballast events`), and the last level of its topic; src/mqtt/messages.md says what "
     "they "
     "carry.",
     ENTRY(event_kind)},
    {"Roll of maintenance", "`step` of a host in `roll` (`ballast maintenance roll`).", ENTRY(roll_step)},
    {"Changes", "`change` of `ballast what-if`: what is assumed.", ENTRY(change_kind)},
    {"Days alike",
     "`alike` of what a snapshot's `forecast` expects: the days that it rests on, of the zone dpm.time_zone.",
     ENTRY(alike_days)},
    {"Uneven",
     "`kind` in `uneven` of a plan's `before` and `after`, and of the status: why the load is not even.",
     ENTRY(uneven)},
    {"Operators",
     "The first entry of a list in an expression: `filter` of a pipeline's stage. What has no value is "
     "absent: a comparison\nwith an absent value is not true, arithmetic with one is absent.",
     ENTRY(expression_operator)},
    {"Variables",
     "Texts that begin with $ in an expression; a word that ends in a dot is completed with a name.",
     ENTRY(expression_variable)},
    {"Normalisation", "`normalise` of a score; absent: minmax.", ENTRY(normalisation)},
    {"Uses of a stage", "`applies` of a pipeline's stage; absent: place and move.", ENTRY(fit_use)},
    {"Failures of an external unit", "`on_failure` of a filter with `external`; absent: refuse.",
     ENTRY(answer_failure)},
    {"Needs of a stage", "`needs` of a pipeline's stage.", ENTRY(stage_needs)},
    {"Host states", "`state` of a host in a snapshot.", ENTRY(host_state)},
    {"Failure detection", "`failure_detection` of a host in a snapshot.", ENTRY(failure_detection)},
    {"VM states", "`state` of a VM in a snapshot.", ENTRY(vm_state)},
    {"Offers", "`kind` of what a host does not offer to a VM (`missing`).", ENTRY(offer_kind)},
    {"VM kinds", "`kind` of a VM in a snapshot.", ENTRY(vm_kind)},
    {"Rule kinds", "`kind` of a rule in a snapshot.", ENTRY(rule_kind)},
    {"Rule origins", "`origin` of a rule or of a pool in a snapshot; absent: source. No pool is of a tag.",
     ENTRY(rule_origin)},
    {"HA policies", "`ha.policy` of a snapshot and of the configuration.", ENTRY(ha_policy)},
    {"Automation",
     "`automation` of a VM and `dpm` of a host in a snapshot: inherit, disabled, manual or automatic. The "
     "settings "
     "take the words\nthat are listed with them.",
     ENTRY(automation)},
    {"Memory admission", "The setting `mem_admission`.", ENTRY(mem_admission)},
    {"Balancers", "The setting `balance.by`.", ENTRY(balancer)},
    {"Objectives", "The setting `objective`.", ENTRY(objective)},
    {"Searches", "The setting `search`.", ENTRY(search_kind)},
};

static const char head[] =
    "# Names\n\n"
    "Every word in the output and input of Ballast. Programs may rely on them: words are added, none changes "
    "its "
    "meaning.\nMade from `include/ballast/names.h`, `src/engine/ports.h` and `src/model/policy_settings.c`; "
    "a unit "
    "test compares.\n";

static void put_values(const struct field *f, struct strbuf *out)
{
    const char *before = "";

    if (f->type == FIELD_BOOL)
        strbuf_puts(out, "true, false");
    else if (f->type == FIELD_INT || f->type == FIELD_NUMBER)
        strbuf_printf(out, "%s%.16g … %.16g%s", f->type == FIELD_INT ? "whole, " : "", f->min, f->max,
                      field_has_auto(f) ? ", auto" : "");
    for (size_t i = 0; f->type == FIELD_WORD && f->words[i]; i++) {
        if (!f->words[i][0])
            continue;
        strbuf_printf(out, "%s%s", before, f->words[i]);
        before = ", ";
    }
}

static void put_document(struct strbuf *out)
{
    strbuf_puts(out, head);
    strbuf_puts(
        out,
        "\n## Settings\n\nFor `--set KEY=VALUE` and the configuration; a plan lists them under `policy`.\n\n"
        "| setting | default | values | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < policy_settings.n; i++) {
        const struct field *f = &policy_settings.fields[i];

        strbuf_printf(out, "| `%s` | %s | ", f->name, f->fallback);
        put_values(f, out);
        strbuf_printf(out, " | %s |\n", f->meaning);
    }
    for (size_t l = 0; l < ELEMENTS(lists); l++) {
        strbuf_printf(out, "\n## %s\n\n%s\n\n| word | meaning |\n|---|---|\n", lists[l].title,
                      lists[l].about);
        for (int i = 0; i < lists[l].n; i++)
            strbuf_printf(out, "| `%s` | %s |\n", lists[l].name(i), lists[l].meaning(i));
    }
}

static void test_document(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf expected = {0};
    CLEANUP(strbuf_releasep) struct strbuf found = {0};
    const char *source = getenv("BALLAST_SOURCE_DIR");
    char path[4096];
    char piece[4096];
    size_t len;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/conf/names.md", source ? source : "../..");
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    assert_non_null(f);
    strbuf_init(&expected, STRBUF_NO_LIMIT);
    strbuf_init(&found, STRBUF_NO_LIMIT);
    put_document(&expected);
    while ((len = fread(piece, 1, sizeof piece, f)) > 0)
        strbuf_add(&found, piece, len);
    assert_string_equal(found.text, expected.text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document),
    };

    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        CLEANUP(strbuf_releasep) struct strbuf text = {0};
        strbuf_init(&text, STRBUF_NO_LIMIT);
        put_document(&text);
        return fwrite(text.text, 1, text.len, stdout) == text.len ? 0 : 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
