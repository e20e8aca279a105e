/* Instants in snapshots and replies. */
#include "base/rfc3339.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    instant_s at;

    if (text && rfc3339_parse(text, &at) == 0) {
        char back[RFC3339_MAX];
        instant_s again;
        if (rfc3339_parse(rfc3339_format(at, back), &again) != 0 || again != at)
            abort();
    }
    free(text);
    return 0;
}
