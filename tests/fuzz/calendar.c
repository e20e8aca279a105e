/* Calendar expressions and windows: for any text the search for occurrences ends, and both directions
 * agree. */
#include "schedule/schedule.h"

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1792886400 /* shortly before clocks are set back in Europe */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    char *text = strndup((const char *)data, size);
    struct schedule_window w;
    instant_s at;
    instant_s back;

    if (text && calendar_parse(text, "Europe/Berlin", &a, &w.begins, NULL) == 0 &&
        calendar_next(&w.begins, NOW, &at) && (!calendar_last(&w.begins, at, &back) || back != at))
        abort();
    if (text && schedule_window_parse(text, "America/New_York", &a, &w, NULL) == 0) {
        const struct schedule s = {
            .windows = &w, .n_windows = 1, .ready_by = &w.begins, .n_ready_by = 1, .zone = "UTC"};
        struct schedule_state state;
        schedule_at(&s, NOW, &state);
        if (state.changes != 0 && state.changes <= NOW)
            abort();
    }
    free(text);
    return 0;
}
