/* templates.h: what every finding says, as rows of a table.
 *
 * `text` is the sentence. In braces stands
 *   a subject        {vm}: its name; {vm.state}, {host.boot_s}: a fact of it (wording.c has the list)
 *   a figure         {need}, {cpu_mhz}: its member in ballast/finding.h, with the unit; {cpu_load:percent},
 *                    {imbalance:4}: in another form (wording.c has the list); {cpu_benefit_mhz_s:minus}: with
 * the other sign; {is_s/least_s}, {least_s-is_s}: their ratio, their difference a word           {resource},
 * {reason}, {check}, {power}, {check.meaning}, {because}, ... a phrase         {fullest}: a part that several
 * sentences share, or that has variants of its own and {^...} begins with a capital letter. What the finding
 * does not have is "?".
 *
 * `when` says when the row is the one, in conditions with a space between them; all must hold:
 *   vm, !vm          the finding has it, or does not
 *   vms=1, at>{time} =, < and > compare with a number, with a word, or with what the braces stand for
 * The first row of the code, or of the phrase's name, with which that is so is taken. */
#ifndef BALLAST_RENDER_WORDING_TEMPLATES_H
#define BALLAST_RENDER_WORDING_TEMPLATES_H

#include <ballast/plan.h>

struct sentence_template {
    enum finding_code code;
    const char *when, *text;
};

struct phrase {
    const char *name, *when, *text;
};

extern const struct sentence_template wording_templates[];
extern const struct phrase wording_phrases[];
extern const size_t wording_templates_count, wording_phrases_count;

/* A finding on its way to become a sentence. */
struct sentence {
    const struct snapshot *snap;
    const struct finding *f;
    struct arena *a;
    const struct finding *const *alike; /* f among them: one sentence for all; NULL: for f alone */
    size_t n_alike;
};

/* The text with its braces replaced, in the arena. A name that does not exist stays in braces. */
const char *wording_expand(const struct sentence *w, const char *text);

#endif
