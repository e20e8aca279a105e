/* peer_json.h: JSON of a peer that is not trusted: bounded while it is parsed, and read value by value.
 *
 * An object may be NULL or anything else than an object: then it has no member. */
#ifndef BALLAST_NET_PEER_JSON_H
#define BALLAST_NET_PEER_JSON_H

#include <ballast/err.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Parses an answer that is nested at most so deep. Latin-1 where UTF-8 should be, bare control characters,
 * integers beyond 64 bits and a NUL character are taken as they come. The caller releases *ret with
 * json_decref(). -EPROTO. */
int peer_json_read(const char *text, size_t len, unsigned depth_max, json_t **ret, struct err *err);

/* The member's text; NULL: it has none. Valid as long as the object. */
const char *peer_json_text(const json_t *o, const char *key);

/* The member's number, also one written as text ("4096"); UNKNOWN: it has none. */
double peer_json_number(const json_t *o, const char *key);

/* Whether the member is true: true, a number that is not 0, or one of "1", "yes", "on", "true". */
bool peer_json_flag(const json_t *o, const char *key);

#endif
