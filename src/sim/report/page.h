/* page.h: what the report page shows, for html.c: its words and tables as data, and its JSON. */
#ifndef BALLAST_SIM_REPORT_PAGE_H
#define BALLAST_SIM_REPORT_PAGE_H

#include "sim/report/format.h"

struct page {
    const struct run_set *sets[2];
    size_t n; /* one, or two to compare */
    struct arena *a;
};

/* The sentences below the title; those that say what was assumed. */
struct page_texts {
    const char *about[4];
    size_t n_about;
    const char *notes[2];
    size_t n_notes;
};

/* A headline figure. */
struct page_tile {
    const char *what, *value, *note; /* note: "" for none */
};

struct page_row {
    const char *group; /* a title of the rows that follow, and no row itself; NULL: a row */
    const char *head;
    const char *note;         /* explains the head; NULL: none */
    bool differs;             /* between the two sets */
    const char *const *cells; /* one less than there are columns */
};

struct page_table {
    const char *heading; /* tables one after the other with the same heading stand together */
    const char *caption;
    const char *summary; /* the text to open the table with; NULL: it is open */
    const char *const *columns;
    size_t n_columns;
    struct page_row *rows;
    size_t n_rows, cap_rows;
};

struct page_tables {
    struct page_table *items;
    size_t n, cap;
};

void page_texts_make(const struct page *p, struct page_texts *ret);
/* The tiles that apply. Returns their number. */
size_t page_tiles_make(const struct page *p, const struct page_tile **ret);
/* All figures, pools, the VMs that lacked most CPU, the settings. */
void page_tables_make(const struct page *p, struct page_tables *ret);

/* Writes the data of the drawn page, ballast-report/1; dashboard/src/report/data.ts describes it. Every
 * "<" in it is escaped, so that it can stand within a script element. */
void page_json_put(const struct page *p, struct strbuf *out);

/* The name of a set in titles: "", or "A" and "B". */
const char *page_set_name(const struct page *p, size_t set);

#endif
