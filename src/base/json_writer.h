/* json_writer.h: JSON text, written member by member into a strbuf.
 *
 * What is written is always valid: strings are escaped and their broken UTF-8 replaced, what is not a number
 * becomes null, and commas take care of themselves. Opening and closing must match; that is asserted.
 *
 * The prefix is jw_, as json_ is jansson's, with which the same program reads.
 *
 *     jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
 *     jw_text(&w, "id", h->id);
 *     jw_end(&w);
 */
#ifndef BALLAST_BASE_JSON_WRITER_H
#define BALLAST_BASE_JSON_WRITER_H

#include "base/strbuf.h"

#include <ballast/units.h>

#include <stdbool.h>
#include <stdint.h>

#define JW_DEPTH_MAX 32

enum jw_container { JW_OBJECT, JW_ARRAY };
enum jw_layout { JW_LINES, JW_INLINE }; /* a line each, or all on the line that it began on */

struct json_writer {
    struct strbuf *out;
    unsigned depth;
    struct {
        enum jw_container container;
        enum jw_layout layout;
        bool empty;
    } open[JW_DEPTH_MAX];
};

void jw_init(struct json_writer *w, struct strbuf *out);

/* key is NULL within an array and for the outermost value. */
void jw_begin(struct json_writer *w, const char *key, enum jw_container container, enum jw_layout layout);
void jw_end(struct json_writer *w);

void jw_text(struct json_writer *w, const char *key, const char *value); /* NULL: null */
void jw_bool(struct json_writer *w, const char *key, bool value);
void jw_int(struct json_writer *w, const char *key, int64_t value);
void jw_instant(struct json_writer *w, const char *key, instant_s t); /* RFC 3339, in UTC; 0: null */

/* With as many digits as it takes to read the very same number back. Not finite: null. */
void jw_exact(struct json_writer *w, const char *key, double value);

/* A value that is JSON already; trusted. NULL: null. */
void jw_raw(struct json_writer *w, const char *key, const char *json);

/* With at most 12 significant digits, for what is computed. Not finite: null. */
void jw_figure(struct json_writer *w, const char *key, double value);

#endif
