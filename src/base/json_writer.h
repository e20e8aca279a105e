/* json_writer.h: writes JSON text into a strbuf, member by member.
 *
 * Output is always valid: strings are escaped and broken UTF-8 is replaced, numbers that are not finite
 * become null, and commas are placed automatically. Begin and end must match, which is asserted.
 *
 * The prefix is jw_, because json_ is the prefix of jansson, which reads JSON.
 *
 *     struct json_writer w = {.out = &text};
 *
 *     jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
 *     jw_text(&w, "id", h->id);
 *     jw_end(&w); */
#ifndef BALLAST_BASE_JSON_WRITER_H
#define BALLAST_BASE_JSON_WRITER_H

#include "base/strbuf.h"

#include <ballast/units.h>

#include <stdbool.h>
#include <stdint.h>

#define JW_DEPTH_MAX 32

enum jw_container { JW_OBJECT, JW_ARRAY };
enum jw_layout { JW_LINES, JW_INLINE }; /* a line for each member, or all members on one line */

struct json_writer {
    struct strbuf *out;
    unsigned depth;
    struct {
        enum jw_container container;
        enum jw_layout layout;
        bool empty;
    } open[JW_DEPTH_MAX];
};

/* key is NULL within an array and for the outermost value. */
void jw_begin(struct json_writer *w, const char *key, enum jw_container container, enum jw_layout layout);
void jw_end(struct json_writer *w);

/* Begins an object on one line; of what is not known it writes null instead, and returns false. */
bool jw_begin_known(struct json_writer *w, const char *key, bool known);

void jw_text(struct json_writer *w, const char *key, const char *value); /* NULL: null */
void jw_bool(struct json_writer *w, const char *key, bool value);
void jw_int(struct json_writer *w, const char *key, int64_t value);
void jw_instant(struct json_writer *w, const char *key, instant_s t); /* RFC 3339, in UTC; 0: null */

/* An array of n texts. */
void jw_texts(struct json_writer *w, const char *key, const char *const *texts, size_t n,
              enum jw_layout layout);

/* With the digits needed to read back the same value. Not finite: null. */
void jw_exact(struct json_writer *w, const char *key, double value);

/* Adds text that is JSON already, unchecked. NULL: null. */
void jw_raw(struct json_writer *w, const char *key, const char *json);

/* With at most 12 significant digits, for computed values. Not finite: null. */
void jw_figure(struct json_writer *w, const char *key, double value);

#endif
