/* Searches of oVirt's REST API: parsed, and asked of an element. */
#include "http/rest/search.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *element = json_pack("{s: s, s: s, s: s, s: {s: s, s: s}}", "id", "v1", "name", "web1", "status",
                                "up", "host", "id", "h1", "name", "esx1");
    char *text = strndup((const char *)data, size);
    struct arena a = {0};
    struct rest_search search;
    struct err err = {0};
    const int e = rest_search_parse(text, REST_VM, &a, &search, &err);

    if ((e < 0) != (err.code != 0))
        abort();
    if (e == 0) {
        (void)rest_search_matches(&search, element);
        (void)rest_search_name(&search);
    }
    arena_release(&a);
    json_decref(element);
    free(text);
    return 0;
}
