/* header.c: reads single headers. */
#include "http/header.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define JSON "application/json"
#define EVENT_DIGITS_MAX 18 /* fits an int64_t, which the store has */

bool header_has_etag(const char *if_none_match, const char *etag)
{
    return if_none_match && (strcmp(if_none_match, "*") == 0 || strstr(if_none_match, etag));
}

bool header_is_json(const char *content_type)
{
    const size_t len = strlen(JSON);

    return content_type && strncasecmp(content_type, JSON, len) == 0 &&
           (content_type[len] == '\0' || content_type[len] == ';' || content_type[len] == ' ');
}

/* The name without its port. */
static size_t name_length(const char *host)
{
    const char *end = *host == '[' ? strchr(host, ']') : strrchr(host, ':');

    if (*host == '[')
        return end ? (size_t)(end - host) + 1 : strlen(host);
    return end ? (size_t)(end - host) : strlen(host);
}

bool header_names_host(const char *host, const char *name)
{
    const size_t len = name_length(name);

    return host && name_length(host) == len && strncasecmp(host, name, len) == 0;
}

bool header_event_id(const char *last_event_id, uint64_t *ret)
{
    const size_t n = last_event_id ? strspn(last_event_id, "0123456789") : 0;

    if (n == 0 || n > EVENT_DIGITS_MAX || last_event_id[n] != '\0')
        return false;
    *ret = strtoull(last_event_id, NULL, 10);
    return true;
}
