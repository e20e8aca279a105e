/* json_writer.h: JSON text, written member by member into a strbuf.
 *
 * What is written is always valid: strings are escaped and their broken UTF-8 replaced, what is not a number
 * becomes null, and commas take care of themselves. Opening and closing must match; that is asserted.
 *
 * The two containers are jansson's JSON_OBJECT and JSON_ARRAY, so that one file may read and write.
 *
 *     json_begin(&w, NULL, JSON_OBJECT, JSON_LINES);
 *     json_text(&w, "id", h->id);
 *     json_end(&w);
 */
#ifndef BALLAST_MODEL_JSON_WRITER_H
#define BALLAST_MODEL_JSON_WRITER_H

#include "base/strbuf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 32

enum json_layout { JSON_LINES, JSON_INLINE }; /* a line each, or all on the line that it began on */

struct json_writer {
    struct strbuf *out;
    unsigned depth;
    struct {
        json_type container;
        enum json_layout layout;
        bool empty;
    } open[JSON_DEPTH_MAX];
};

void json_writer_init(struct json_writer *w, struct strbuf *out);

/* key is NULL within an array and for the outermost value. */
void json_begin(struct json_writer *w, const char *key, json_type container, enum json_layout layout);
void json_end(struct json_writer *w);

void json_text(struct json_writer *w, const char *key, const char *value); /* NULL: null */
void json_bool(struct json_writer *w, const char *key, bool value);
void json_int(struct json_writer *w, const char *key, int64_t value);

/* With as many digits as it takes to read the very same number back. Not finite: null. */
void json_exact(struct json_writer *w, const char *key, double value);

/* With at most 12 significant digits, for what is computed. Not finite: null. */
void json_figure(struct json_writer *w, const char *key, double value);

#endif
