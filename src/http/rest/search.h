/* search.h: the search language of oVirt's REST API, as its clients use it.
 *
 *     name=web* and status!=down or id = "6f0c…" page 2
 *
 * Terms are joined by `and`, which binds closer and may be left out, and by `or`. A term is FIELD = VALUE,
 * FIELD
 * != VALUE, or a bare name. In a value * stands for any text. Fields are id, name, status, cluster (its name
 * or id) and, of VMs, host; their names and states are compared without case. `sortby FIELD` is ignored. As a
 * parameter has blanks as +, a + outside quotes is a blank, and one within quotes stands for either. */
#ifndef BALLAST_HTTP_REST_SEARCH_H
#define BALLAST_HTTP_REST_SEARCH_H

#include "http/rest/elements.h"

#include <ballast/arena.h>
#include <ballast/err.h>

#include <jansson.h>
#include <stdbool.h>

enum rest_field { REST_FIELD_ID, REST_FIELD_NAME, REST_FIELD_STATUS, REST_FIELD_CLUSTER, REST_FIELD_HOST };

struct rest_term {
    enum rest_field field;
    bool differs; /* != */
    bool begins;  /* `or` stands before it */
    const char *value;
};

struct rest_search {
    struct rest_term *terms; /* none: every element matches */
    size_t n, cap;
    unsigned page; /* from 1 */
};

/* The search lives in the arena. -EINVAL: a field or an operator that is none, a value that is missing or
 * whose quotes do not end, a page that is no number. */
int rest_search_parse(const char *text, enum rest_kind kind, struct arena *a, struct rest_search *ret,
                      struct err *err);

/* Whether an element in its neutral form matches. */
bool rest_search_matches(const struct rest_search *search, const json_t *element);

/* The name, if that is all that is asked for, so that it can be looked up; else NULL. */
const char *rest_search_name(const struct rest_search *search);

#endif
