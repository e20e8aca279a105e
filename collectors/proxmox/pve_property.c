/* pve_property.c: splits property strings and lists. It knows no property's meaning. */
#include "collectors/proxmox/pve_property.h"

#include <stdlib.h>
#include <string.h>

#define LIST_SEPARATORS ",; \t\r\n"
#define PRIORITY_MAX 1000000ul

const char *pve_property(const char *text, const char *name, struct arena *a)
{
    while (text && *text) {
        size_t len = strcspn(text, ",");
        const char *equals = memchr(text, '=', len);

        if (!name && !equals && len > 0)
            return arena_strndup(a, text, len);
        if (name && equals && (size_t)(equals - text) == strlen(name) &&
            strncmp(text, name, strlen(name)) == 0)
            return arena_strndup(a, equals + 1, len - (size_t)(equals + 1 - text));
        text += len + (text[len] == ',');
    }
    return NULL;
}

const char *pve_list_next(const char **at, struct arena *a)
{
    if (!*at)
        return NULL;
    *at += strspn(*at, LIST_SEPARATORS);
    size_t len = strcspn(*at, LIST_SEPARATORS);

    if (len == 0)
        return NULL;
    const char *item = arena_strndup(a, *at, len);
    *at += len;
    return item;
}

const char *pve_node_next(const char **at, unsigned *ret_priority, struct arena *a)
{
    char *node = (char *)pve_list_next(at, a);
    char *colon = node ? strchr(node, ':') : NULL;
    char *end = NULL;

    *ret_priority = 0;
    if (!colon)
        return node;
    unsigned long priority = strtoul(colon + 1, &end, 10);
    if (end > colon + 1 && !*end && priority <= PRIORITY_MAX && colon[1] != '-')
        *ret_priority = (unsigned)priority;
    *colon = '\0';
    return node;
}

bool pve_is_of(const char *key, const char *family)
{
    size_t len = strlen(family);

    return strncmp(key, family, len) == 0 && key[len] && strspn(key + len, "0123456789") == strlen(key + len);
}
