/* tones.c: which words of a reply stand out. Everything else is plain, so that these do. */
#include "cli/tones.h"

#include "cli/verb.h"

#include <string.h>

#define LOAD_HIGH 0.9 /* little is left for a rise */
#define LOAD_FULL 1.0

static const struct {
    const char *state;
    enum tone tone;
} tones[] = {
    {"disconnected", TONE_BAD}, {"failed", TONE_BAD},   {"cancelled", TONE_WARN}, {"done", TONE_GOOD},
    {"starting", TONE_WARN},    {"running", TONE_WARN}, {"verifying", TONE_WARN}, {"powering_on", TONE_WARN},
    {"standby", TONE_DIM},      {"expired", TONE_DIM},  {"rejected", TONE_DIM},
};

enum tone tone_of_state(const char *state)
{
    for (size_t i = 0; state && i < COUNT_OF(tones); i++) {
        if (strcmp(state, tones[i].state) == 0)
            return tones[i].tone;
    }
    return TONE_PLAIN;
}

enum tone tone_of_load(double load)
{
    return load >= LOAD_FULL ? TONE_BAD : load >= LOAD_HIGH ? TONE_WARN : TONE_PLAIN;
}
