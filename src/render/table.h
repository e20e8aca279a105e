/* table.h: rows of text, aligned, on lines of at most TABLE_WIDTH columns.
 *
 * Widths are counted in characters, not bytes. Control characters are shown as '?', so that a VM's name
 * cannot play tricks on a terminal. Numbers go to the right. Nothing follows the last text of a line.
 *
 * A sentence is too long for a column. It goes below its row, wrapped, so that tables stay readable on a
 * terminal.
 *
 * A table that is too wide is made to fit in this order, for all of its rows alike:
 *   1. optional columns without a value (nothing, "-" or "0" in every row) go;
 *   2. columns with a word go below the row, in front of the sentence, the rightmost first;
 *   3. the widest columns of text get narrower. A longer text, such as a name, is still shown whole: its row
 *      goes on below it, at the next column. No name is ever cut: a user has to be able to type it.
 */
#ifndef BALLAST_RENDER_TABLE_H
#define BALLAST_RENDER_TABLE_H

#include "base/strbuf.h"

#include <ballast/arena.h>

#include <stdbool.h>
#include <stdint.h>

struct column {
    const char *title;
    bool right;
    bool below;       /* the last column only: without a title, on lines of its own below the row */
    bool tight;       /* one blank in front of it, not two */
    bool optional;    /* may go if it has no value */
    bool host;        /* the domain that all hosts share is left out at the end of the text */
    const char *word; /* may go below the row, after this word; "": without a word; only before `below` */
};

/* How a cell is drawn where `colours` is set. A colour only repeats what the text says. */
enum tone { TONE_PLAIN, TONE_GOOD, TONE_WARN, TONE_BAD, TONE_DIM, TONE_TITLE, tone_count };

/* The terminal's sequence for the tone (ECMA-48); TONE_PLAIN ends it. */
const char *table_tone_sequence(enum tone tone);

#define TABLE_WIDTH 80                 /* of any terminal */
#define TABLE_WIDTH_ANY (SIZE_MAX / 2) /* for tables that a user asked to be wide */

struct table {
    struct arena *a;
    const struct column *columns;
    size_t n_columns;
    const char **cells;   /* row by row */
    unsigned char *tones; /* enum tone, of each cell */
    size_t n_cells, cap_cells, cap_tones;
    size_t width;       /* TABLE_WIDTH, or what the caller puts in */
    bool colours;       /* for a terminal that has them; the caller puts it in */
    const char *domain; /* ".example.com", of host columns; NULL: none. The caller puts it in. */
};

/* Without rows. Rows and texts are in the arena. */
static inline struct table table_of(struct arena *a, const struct column *columns, size_t n_columns)
{
    return (struct table){.a = a, .columns = columns, .n_columns = n_columns, .width = TABLE_WIDTH};
}

/* Adds a cell; after n_columns cells the next one begins a row. The text is not copied; NULL is shown as "-".
 */
void table_cell(struct table *t, const char *text);
void table_cellf(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The tone of the cell that was added last. */
void table_tone(struct table *t, enum tone tone);

/* A number with few decimals: none from 100 on, else up to three. Infinite and unknown values are "-". */
void table_number(struct table *t, double value);

/* Title line and rows, each after the indent. */
void table_render(const struct table *t, const char *indent, struct strbuf *out);

/* Adds text with its control characters replaced. */
void table_put_text(struct strbuf *out, const char *text);

/* The text on lines that end before TABLE_WIDTH, each after `indent` blanks. */
void table_put_wrapped(struct strbuf *out, const char *text, size_t indent);

/* The text after a line's first `at` characters, which are there already (0: none), and a blank; lines end
 * before TABLE_WIDTH, those after the first begin with `indent` blanks. */
void table_put_hanging(struct strbuf *out, const char *text, size_t at, size_t indent);

#endif
