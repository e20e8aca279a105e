/* table.h: rows of text, aligned.
 *
 * Widths are counted in characters, not bytes. Control characters are shown as '?', so that a VM's name
 * cannot play tricks on a terminal. Numbers go to the right. Nothing follows the last text of a line.
 *
 * A sentence is too long for a column. It goes below its row, wrapped, so that tables stay readable on a
 * terminal.
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
    bool below; /* the last column only: without a title, on lines of its own below the row */
};

#define TABLE_WIDTH 100   /* where what stands below a row is wrapped */
#define TERMINAL_WIDTH 80 /* the same for what is read on any terminal: the verbs of the service */

struct table {
    struct arena *a;
    const struct column *columns;
    size_t n_columns;
    const char **cells; /* row by row */
    size_t n_cells, cap_cells;
    size_t wrap; /* what stands below a row is wrapped here: TABLE_WIDTH, or what the caller puts in */
};

void table_init(struct table *t, struct arena *a, const struct column *columns, size_t n_columns);

/* Adds a cell; after n_columns cells the next one begins a row. The text is not copied; NULL is shown as "-".
 */
void table_cell(struct table *t, const char *text);
void table_cellf(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number with few decimals: none from 100 on, else up to three. Infinite and unknown values are "-". */
void table_number(struct table *t, double value);

/* Title line and rows, each after the indent. */
void table_render(const struct table *t, const char *indent, struct strbuf *out);

/* Adds text with its control characters replaced. */
void table_put_text(struct strbuf *out, const char *text);

/* The text on lines that end before TABLE_WIDTH, each after `indent` blanks. */
void table_put_wrapped(struct strbuf *out, const char *text, size_t indent);

/* The text after a line's first `at` characters, which are there already (0: none), and a blank; lines end
 * before TERMINAL_WIDTH, those after the first begin with `indent` blanks. */
void table_put_hanging(struct strbuf *out, const char *text, size_t at, size_t indent);

#endif
