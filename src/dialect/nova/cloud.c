/* cloud.c: objects of the lists of the API, by their texts. */
#include "dialect/nova/internal.h"

#include <string.h>

const char *cloud_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text && *text ? text : NULL;
}

const json_t *cloud_find(const struct cloud *c, const char *list, const char *key, const char *wanted)
{
    size_t i;
    const json_t *item;

    json_array_foreach(json_object_get(c->lists, list), i, item)
    {
        const char *text = cloud_text(item, key);
        if (text && wanted && strcmp(text, wanted) == 0)
            return item;
    }
    return NULL;
}

json_t *cloud_found(const struct cloud *c, const char *key)
{
    return json_object_get(c->found, key);
}

json_t *cloud_keep(struct cloud *c, const char *key, json_t *value)
{
    (void)json_object_set_new(c->found, key, value);
    return value;
}
