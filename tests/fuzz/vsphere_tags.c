/* Answers of vCenter's API of tags, each read as every kind of answer. The same bytes are a list of objects,
 * a tag and a category; what was read becomes labels. */
#include "collectors/vsphere/vs_tags.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Ids and names of the answer as tags: two of each category at most are joined. */
static void make_labels(const struct idmap *attached, struct arena *a)
{
    for (size_t i = 0; i < attached->cap; i++) {
        const struct ids *ids = attached->entries[i].key ? attached->entries[i].value : NULL;
        struct vs_tag *tags = ids ? arena_array(a, struct vs_tag, ids->n) : NULL;

        for (uint32_t k = 0; ids && k < ids->n; k++)
            tags[k] = (struct vs_tag){.name = ids->items[k], .category = ids->items[k / 2]};
        struct labels labels = ids ? vs_tags_labels(tags, ids->n, a) : (struct labels){0};
        for (uint32_t k = 1; k < labels.n; k++)
            if (strcmp(labels.items[k - 1].key, labels.items[k].key) >= 0)
                abort(); /* a category is one label */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct idmap attached = {0};
    struct vs_tag tag;
    struct err err;
    json_t *o = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);

    if (vs_tags_read_attached(o, &a, &attached, &err) == 0)
        make_labels(&attached, &a);
    if (vs_tags_read_tag(o, &a, &tag, &err) == 0 && (!tag.name[0] || !tag.category[0]))
        abort();
    if (vs_tags_read_category(o, &a, &tag, &err) == 0 && !tag.name[0])
        abort();
    json_decref(o);
    idmap_release(&attached, NULL);
    arena_release(&a);
    return 0;
}
