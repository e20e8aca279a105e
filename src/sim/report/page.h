/* page.h: the parts of the page that report_html() puts together. */
#ifndef BALLAST_SIM_REPORT_PAGE_H
#define BALLAST_SIM_REPORT_PAGE_H

#include "sim/report/chart.h"
#include "sim/report/format.h"

struct page {
    const struct run_set *sets[2];
    size_t n; /* one, or two that are compared */
    struct time_axis axis;
    struct arena *a;
    struct strbuf *out;
};

/* The figures that are asked for first, large; all of them; those of the pools; the settings. */
void page_tiles(const struct page *p);
void page_metrics(const struct page *p);
void page_pools(const struct page *p);
void page_settings(const struct page *p);

void page_plots(const struct page *p);

#endif
