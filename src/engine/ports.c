/* ports.c: what all implementations of a port and their users share. */
#include "engine/ports.h"

#include <string.h>

const char *ports_find_note(const struct stored *s, const char *key)
{
    for (size_t i = 0; i < s->n_notes; i++) {
        if (strcmp(s->notes[i].key, key) == 0)
            return s->notes[i].value;
    }
    return NULL;
}
