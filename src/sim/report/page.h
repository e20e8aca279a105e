/* page.h: the parts of the page, for report_html(). */
#ifndef BALLAST_SIM_REPORT_PAGE_H
#define BALLAST_SIM_REPORT_PAGE_H

#include "sim/report/chart.h"
#include "sim/report/format.h"

struct page {
    const struct run_set *sets[2];
    size_t n; /* one, or two to compare */
    struct time_axis axis;
    struct arena *a;
    struct strbuf *out;
};

/* The headline figures as large tiles; the table of all metrics; the pools; the VMs that lacked most; the
 * settings. */
void page_tiles(const struct page *p);
void page_metrics(const struct page *p);
void page_pools(const struct page *p);
void page_shortfalls(const struct page *p);
void page_settings(const struct page *p);

void page_plots(const struct page *p);

#endif
