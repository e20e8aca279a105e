/* pages.h: the built files of the dashboard, in memory.
 *
 * Only what is read at the start is ever given: a path names an entry of a table, never a file. So a path
 * leads nowhere else, and an upgrade under a running service mixes no two versions. */
#ifndef BALLAST_HTTP_PAGES_H
#define BALLAST_HTTP_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#define PAGE_ETAG_SIZE 36

struct page {
    char *name;       /* "index.html"; of the others the name in the folder "assets", which has their hash */
    const char *type; /* Content-Type */
    bool constant;    /* an asset: its content never changes under this name */
    char etag[PAGE_ETAG_SIZE];
    char *bytes;
    size_t size;
};

struct pages;

/* index.html and the folder assets of this folder, which meson installs or has in the build folder. Files of
 * unknown types are left out; a folder that is not there has no pages. What cannot be read is logged. */
struct pages *pages_read(const char *folder);
void pages_free(struct pages *p); /* NULL is fine */

/* The asset of this name; NULL: index.html. NULL: there is none. */
const struct page *pages_find(const struct pages *p, const char *asset);

#endif
