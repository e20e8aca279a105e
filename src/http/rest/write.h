/* write.h: elements in their neutral form (elements.h) as oVirt's XML or JSON.
 *
 * All scalars become texts in JSON. XML has a line for each element. A character that XML cannot hold becomes
 * U+FFFD. An element without `href` gets one from its collection and its id, which is a UUID; links and
 * actions follow from the href, and only the outermost elements have them. */
#ifndef BALLAST_HTTP_REST_WRITE_H
#define BALLAST_HTTP_REST_WRITE_H

#include "base/strbuf.h"
#include "http/rest/elements.h"

#include <jansson.h>

enum rest_format { REST_XML, REST_JSON };

/* Adds a document of one element. version: 3 or 4. */
void rest_write(enum rest_kind kind, const json_t *element, enum rest_format format, unsigned version,
                struct strbuf *out);

/* Adds a document of a collection. path: of the collection, for the elements' href; NULL: the kind's own. */
void rest_write_list(enum rest_kind kind, const json_t *elements, const char *path, enum rest_format format,
                     unsigned version, struct strbuf *out);

#endif
