/* internal.h: for the files of decision only. */
#ifndef BALLAST_DECISION_INTERNAL_H
#define BALLAST_DECISION_INTERNAL_H

#include "decision/decision.h"
#include "model/what_if.h"

/* what_if_changes.c: applies the changes of the question. As decision_answer(). */
int what_if_changes(const struct decision_question *q, struct what_if *w, struct arena *a,
                    const char **ret_field, struct err *err);

#endif
