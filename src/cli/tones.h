/* tones.h: which words of a reply stand out on a terminal with colours. */
#ifndef BALLAST_CLI_TONES_H
#define BALLAST_CLI_TONES_H

#include "render/table.h"

/* Of the state of a host or of an action; NULL or another word: plain. */
enum tone tone_of_state(const char *state);

/* Of a load, as a part of the capacity; unknown: plain. */
enum tone tone_of_load(double load);

#endif
