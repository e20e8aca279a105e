/* page_assets.h: the page's style and its script, both inline. */
#ifndef BALLAST_SIM_REPORT_PAGE_ASSETS_H
#define BALLAST_SIM_REPORT_PAGE_ASSETS_H

extern const char page_style[];
/* Shows the values at the pointer (or the cursor of the arrow keys), read from the drawings; all plots share
 * one cursor. The page is complete without the script. */
extern const char page_script[];

#endif
