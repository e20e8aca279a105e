/* Changes of the policies that a service keeps: a list of {"verb", "path", "is"}, one after another. What is
 * accepted can be shown, kept and read again, and made a pipeline. "ID" in a path is the last policy's. */
#include "dialect/ovirt/stored.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(const json_t *document, const json_t *units)
{
    struct arena a = {0};
    struct seen_pipeline made;
    struct err err = {0};
    bool agrees;
    char *text = json_dumps(document, 0);
    json_t *again = text ? json_loads(text, 0, NULL) : NULL;
    json_t *shown = stored_show(again, units, &err);

    if (!shown || !json_equal(again, (json_t *)(uintptr_t)document))
        abort();
    (void)stored_pipeline(again, units, 1, &a, &made, &agrees, &err);
    json_decref(shown);
    json_decref(again);
    free(text);
    arena_release(&a);
}

/* The path with the id of the last policy in place of "ID". */
static const char *path_of(const json_t *document, const char *path, struct arena *a)
{
    const json_t *own = json_object_get(document, "scheduling_policies");
    const size_t n = json_array_size(own);
    const char *id = n > 0 ? json_string_value(json_object_get(json_array_get(own, n - 1), "id")) : NULL;
    const char *at = strstr(path, "ID");

    return !id || !at ? path : arena_printf(a, "%.*s%s%s", (int)(at - path), path, id, at + 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *list = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    json_t *units = json_pack("[{s: s, s: s, s: s}]", "id", "mine", "name", "mine", "type", "filter");
    json_t *document = stored_new();
    struct arena a = {0};
    size_t i;
    const json_t *one;

    json_array_foreach(list, i, one)
    {
        const char *verb = json_string_value(json_object_get(one, "verb"));
        const char *path = json_string_value(json_object_get(one, "path"));
        struct stored_request asked = {.method = verb, .is = json_object_get(one, "is")};
        struct stored_answer answer;
        struct err err = {0};
        json_t *changed = NULL;

        if (!verb || !path || i > 50)
            continue;
        asked.path = path_of(document, path, &a);
        int e = stored_change(document, units, &asked, &a, &changed, &answer, &err);

        if ((e < 0) != (changed == NULL) || (e < 0 && (err.code == 0 || answer.is)))
            abort();
        if (e < 0)
            continue;
        json_decref(answer.is);
        json_decref(document);
        document = changed;
        check(document, units);
    }
    json_decref(document);
    json_decref(units);
    json_decref(list);
    arena_release(&a);
    return 0;
}
