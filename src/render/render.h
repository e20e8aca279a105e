/* render.h: a decision as text for people and as JSON for programs.
 *
 * One place for the command, HTTP, MQTT and the golden files: the same thing looks the same everywhere. JSON
 * (the formats of the contract) names objects by id, text by name. Both depend on nothing but what they are
 * given; the one part of a plan that may differ between two runs, the time it took, is left out of the text.
 */
#ifndef BALLAST_RENDER_RENDER_H
#define BALLAST_RENDER_RENDER_H

#include "base/json_writer.h"
#include "base/strbuf.h"
#include "core/divvy/divvy.h"
#include "core/explain.h"
#include "model/what_if.h"
#include "render/wording/wording.h"

#include <ballast/plan.h>

/* ballast-plan/1. */
void render_plan_json(const struct plan *plan, struct strbuf *out);

/* What a plan is judged by: the imbalance before and after, the recommendations with their reasons, what
 * could not be done, and what kept the others from being made. */
void render_plan_text(const struct plan *plan, struct strbuf *out);

/* The plan that was made for the changed snapshot, and what it answers. now: the state that the cluster is in
 * without the changes. JSON: ballast-plan/1 with the members "now", a state like "before" and "after", and
 * "what_if", the changes. Text: the changes, whether hosts can be emptied and what cannot leave them, the
 * load now and then, and the plan. */
void render_what_if_json(const struct plan *plan, const struct what_if *question, const struct metrics *now,
                         struct strbuf *out);
void render_what_if_text(const struct plan *plan, const struct what_if *question, const struct plan *now,
                         struct strbuf *out);

/* What is done with the only VM, for its sentence: "web1 can be {powered on} {at} node1". */
struct place_words {
    const char *done, *at;
};

/* What place_run() made of these VMs: for each where it goes and what must come first, or why it has no
 * place; then what must be done, and the other hosts that would do. words: NULL: they are powered on. JSON is
 * render_plan_json(). */
void render_place_text(const struct plan *plan, const uint32_t *vms, uint32_t n,
                       const struct place_words *words, struct strbuf *out);

/* The best host of the VM, and the migration to it if the VM runs on another host. */
void render_best_host_text(const struct plan *plan, uint32_t vm, uint32_t best, struct strbuf *out);

/* How many of the VMs the plan has no place for. */
uint32_t render_unplaced_count(const struct plan *plan, const uint32_t *vms, uint32_t n);

/* Why a state is not even, as the member "uneven" of the object that is open: [{kind, text, subjects,
 * figures}]; empty where it is even. */
void render_unevenness(struct json_writer *w, const struct snapshot *s, const struct metrics *m);

/* Why there are no more moves for balance, as the member "end" of the object that is open: {check, text},
 * with what ended the search, or the check that rejected most of the other moves. */
void render_end_of_balance(struct json_writer *w, const struct plan *plan);

/* A fault of the plan, as an element of the array that is open; figures: with those of its sentence. */
void render_fault(struct json_writer *w, const struct plan *plan, const struct fault *f, bool figures);

/* An amount of each resource, as in "cost" and "benefit". */
void render_amount(struct json_writer *w, const char *key, const double amount[RES_COUNT]);

/* "stages": how many hosts each stage of a pipeline leaves. */
void render_stages_left(struct json_writer *w, const struct snapshot *s, const struct stage_left *left,
                        uint32_t n);

/* A finding's sentence as a member of the object that is open; null for no finding. */
void render_sentence(struct json_writer *w, const char *key, const struct snapshot *snap,
                     const struct finding *f);

/* The same, and beside it "subjects" (ids of what it is about), "figures" and, where something is behind it,
 * "because", an object with the same members of that and the "check" that decided. */
void render_finding(struct json_writer *w, const char *key, const struct snapshot *snap,
                    const struct finding *f);

/* ballast-entitlements/1; trees[r] is NULL for a resource that was not asked for. */
void render_entitlements_json(const struct snapshot *snap, const struct divvy_tree *const trees[RES_COUNT],
                              struct strbuf *out);
/* wide: with what was divvied, for a wide terminal. */
void render_entitlements_text(const struct snapshot *snap, const struct divvy_tree *const trees[RES_COUNT],
                              bool wide, struct strbuf *out);

/* ballast-explain/1. */
void render_explain_json(const struct snapshot *snap, const struct explanation *e, struct strbuf *out);
void render_explain_text(const struct snapshot *snap, const struct explanation *e, struct strbuf *out);

/* The explanation of a host: "vm" is null, and "check" and "text" replace the candidates. assumed: a sentence
 * on settings that were not given and have their defaults; NULL. */
void render_explain_host_json(const struct snapshot *snap, const struct host_explanation *e,
                              const char *assumed, struct strbuf *out);
void render_explain_host_text(const struct snapshot *snap, const struct host_explanation *e,
                              const char *assumed, struct strbuf *out);

#endif
