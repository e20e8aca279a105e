/* status_page.h: a page of the cluster's state in plain HTML, which needs no JavaScript: for text browsers,
 * telephones and screens on a wall. It shows the replies to `status`, `hosts` and `recommendations`. */
#ifndef BALLAST_HTTP_STATUS_PAGE_H
#define BALLAST_HTTP_STATUS_PAGE_H

#include "base/strbuf.h"

#include <jansson.h>

#define STATUS_PAGE_REFRESH_S 30
#define STATUS_PAGE_REFRESH_MOST_S 3600

struct status_page {
    const char *cluster, *who, *role;
    const char *csrf;                         /* of the session; NULL: by token, there is no sign-out */
    unsigned refresh_s;                       /* until a browser asks again; 0: it does not */
    json_t *status, *hosts, *recommendations; /* replies; borrowed */
};

void status_page_write(const struct status_page *p, struct strbuf *out);

/* The sign-in; problem NULL: none before. */
void status_page_write_sign_in(const char *cluster, const char *problem, struct strbuf *out);

/* A sentence in place of the page. */
void status_page_write_problem(const char *title, const char *problem, struct strbuf *out);

/* The style that stands in each page: a policy names its hash. */
extern const char status_page_style[];

#endif
