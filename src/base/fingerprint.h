/* fingerprint.h: a number that tells texts apart (FNV-1a, 64 bits). The same on every machine and in every
 * version, so that it may be stored; not for secrets that leave the process. */
#ifndef BALLAST_BASE_FINGERPRINT_H
#define BALLAST_BASE_FINGERPRINT_H

#include <stdint.h>

#define FINGERPRINT_NONE UINT64_C(0xcbf29ce484222325) /* of no text */

/* Of the texts before and of this one. */
static inline uint64_t fingerprint_add(uint64_t before, const char *text)
{
    uint64_t h = before;

    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        h = (h ^ *c) * UINT64_C(0x100000001b3);
    return h;
}

#endif
