/* csv.h: a text as a field of CSV (RFC 4180), one way for all files that we write, and back.
 *
 * A text with a comma, a quote, a line break or a blank at its ends is quoted. One that a spreadsheet would
 * take for a formula, because it begins with = + - @, a tab or a carriage return, gets a ' before it, as it
 * would be typed there; so does one that begins with a '. Controls and other
 * characters that mislead (utf8.h) become U+FFFD. Names come from other people's inventories. */
#ifndef BALLAST_BASE_CSV_H
#define BALLAST_BASE_CSV_H

#include "base/strbuf.h"

#include <ballast/arena.h>

/* Adds the field, without a comma. */
void csv_put_text(struct strbuf *out, const char *text);

/* The length of the line that begins here, without its end: a line break in quotes is none. */
size_t csv_line_length(const char *text, size_t len);

/* What csv_put_text() made a field of. Any other field is given as it is: programs write names with quotes in
 * them, too. */
const char *csv_text(const char *field, size_t len, struct arena *a);

#endif
