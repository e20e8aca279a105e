/* page_assets.h: the page's style and its script, both inline. */
#ifndef BALLAST_SIM_REPORT_PAGE_ASSETS_H
#define BALLAST_SIM_REPORT_PAGE_ASSETS_H

extern const char page_style[];
/* Reads the values under the pointer (or the arrow keys' cursor) off the drawings, and shows them; the cursor
 * is the same in all plots. The page is complete without it. */
extern const char page_script[];

#endif
