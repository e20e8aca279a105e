/* wake_method.h: the methods that wake a host (WAKE_* of facts.h), one by one. */
#ifndef BALLAST_BASE_WAKE_METHOD_H
#define BALLAST_BASE_WAKE_METHOD_H

#include <ballast/facts.h>

#include <string.h>

#define WAKE_METHOD(i) (1u << (i)) /* of the bit with this number */

/* "ipmi"; NULL: it is not a single method. */
static inline const char *wake_method_name(unsigned method)
{
    switch (method) {
    case WAKE_IPMI:
        return "ipmi";
    case WAKE_REDFISH:
        return "redfish";
    case WAKE_WOL:
        return "wol";
    case WAKE_HYPERVISOR:
        return "hypervisor";
    default:
        return NULL;
    }
}

/* 0: no method has that name. */
static inline unsigned wake_method_parse(const char *name)
{
    for (unsigned i = 0; i < WAKE_METHODS; i++) {
        if (strcmp(wake_method_name(WAKE_METHOD(i)), name) == 0)
            return WAKE_METHOD(i);
    }
    return 0;
}

/* The number of the bit of a single method; WAKE_METHODS: it is not a single one. */
static inline unsigned wake_method_index(unsigned method)
{
    unsigned i = 0;

    while (i < WAKE_METHODS && method != WAKE_METHOD(i))
        i++;
    return i;
}

#endif
