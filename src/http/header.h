/* header.h: what single headers of a request say. A client may send anything; each function takes any text,
 * and NULL for a header that is not there. */
#ifndef BALLAST_HTTP_HEADER_H
#define BALLAST_HTTP_HEADER_H

#include <stdbool.h>
#include <stdint.h>

/* If-None-Match: the strong ETag, with its quotes, is in the list, or the list is * (RFC 9110, 13.1.2). */
bool header_has_etag(const char *if_none_match, const char *etag);

/* Content-Type: JSON, with any parameters. */
bool header_is_json(const char *content_type);

/* Host: this name, which may have a port too (neither port counts). */
bool header_names_host(const char *host, const char *name);

/* Last-Event-ID: the number of an event. False: it is none, as when the header is not there. */
bool header_event_id(const char *last_event_id, uint64_t *ret);

#endif
