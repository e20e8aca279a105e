/* text.h: sentences about moves, and why a VM does not move. */
#ifndef BALLAST_CORE_TEXT_H
#define BALLAST_CORE_TEXT_H

#include "core/plan/pass_state.h"

/* ---- text.c ---- */

const char *text_decision(const struct pass *p, const struct decision *d, uint32_t vm);
const char *text_mhz(struct arena *a, double mhz);
const char *text_mb(struct arena *a, double mb);

/* A phrase, such as a check's meaning, as a sentence: it begins with a capital and ends with a stop. */
const char *text_sentence(struct arena *a, const char *phrase);

/* ---- text_check.c ---- */

/* One about a VM and a host, with the numbers that decided. worth: where the check is of cost and benefit. */
const char *text_check(const struct pass *p, uint32_t vm, uint32_t host, enum check check,
                       const struct worth *worth);

#endif
