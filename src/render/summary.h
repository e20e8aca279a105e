/* summary.h: the reply to `summary`, a night or a day, in about ten lines for people. */
#ifndef BALLAST_RENDER_SUMMARY_H
#define BALLAST_RENDER_SUMMARY_H

#include "base/strbuf.h"

#include <ballast/arena.h>

#include <jansson.h>

void summary_text(const json_t *reply, struct arena *a, struct strbuf *out);

#endif
