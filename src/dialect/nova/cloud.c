/* cloud.c: the document's members, and objects of the lists of the API by their texts. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_MAX 24  /* of a number of 64 bits */
#define LINKS "_links" /* of a list: where it goes on */

/* What the document may have. LIST: of objects. */
static const struct {
    const char *name;
    enum { ANY, OBJECT, LIST } is;
} members[] = {
    {"nova.conf", ANY},
    {"hypervisors", LIST},
    {"aggregates", LIST},
    {"flavors", LIST},
    {"images", LIST},
    {"servers", LIST},
    {"server_groups", LIST},
    {"cells", LIST},
    {"server", OBJECT},
    {"os:scheduler_hints", OBJECT},
    {"OS-SCH-HNT:scheduler_hints", OBJECT},
    {"requested_destination", OBJECT},
    {"project_id", ANY},
    {"server_id", ANY},
    {"migrate", OBJECT},
    {"os-migrateLive", OBJECT},
    {"resize", OBJECT},
    {"evacuate", OBJECT},
    {"unshelve", OBJECT},
    {"rebuild", OBJECT},
    {"dialect", ANY},
    {"name", ANY},
    {"time", ANY},
    {"seed", ANY},
    {"first", ANY}, /* as the API of images answers */
    {"schema", ANY},
};

static int check_list(const struct cloud *c, const char *name, const json_t *list)
{
    size_t i;
    const json_t *item;

    if (!json_is_array(list))
        return err_set(c->err, -EINVAL, "/%s: expected a list of objects", name);
    json_array_foreach(list, i, item)
    {
        if (!json_is_object(item))
            return err_set(c->err, -EINVAL, "/%s/%zu: expected an object", name, i);
    }
    return 0;
}

static bool goes_on(const char *name, const json_t *value)
{
    size_t i;
    const json_t *link;

    json_array_foreach(value, i, link)
    {
        const char *rel = cloud_text(link, "rel");
        if (rel && strcmp(rel, "next") == 0)
            return true;
    }
    return strcmp(name, "next") == 0 && json_is_string(value);
}

static int check_member(const struct cloud *c, const char *name, const json_t *value)
{
    size_t n = strlen(name);
    bool links =
        strcmp(name, "next") == 0 || (n > strlen(LINKS) && strcmp(name + n - strlen(LINKS), LINKS) == 0);

    if (links && goes_on(name, value))
        return err_set(c->err, -EINVAL,
                       "/%s: the list goes on at another page, expected all pages in one list", name);
    for (size_t i = 0; !links && i < sizeof members / sizeof *members; i++) {
        if (strcmp(members[i].name, name) != 0)
            continue;
        if (members[i].is == LIST && !json_is_null(value))
            return check_list(c, name, value);
        return members[i].is != OBJECT || json_is_object(value) || json_is_null(value)
                   ? 0
                   : err_set(c->err, -EINVAL, "/%s: expected an object", name);
    }
    return links ? 0
                 : err_set(c->err, -EINVAL,
                           "/%s: not known, expected nova.conf, hypervisors, aggregates, flavors, images, "
                           "servers, server_groups, cells, server, server_id, migrate and so on",
                           name);
}

int cloud_check(const struct cloud *c)
{
    const char *name;
    json_t *value;
    int e = 0;

    json_object_foreach((json_t *)c->lists, name, value)
    {
        e = e < 0 ? e : check_member(c, name, value);
    }
    return e;
}

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
        const json_t *its = json_object_get(item, key);
        const char *text = json_string_value(its);
        char number[DIGITS_MAX];

        if (json_is_integer(its)) {
            (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(its));
            text = number;
        }
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

bool cloud_first(struct cloud *c, const char *key)
{
    bool ret = !cloud_found(c, key);

    if (ret)
        (void)cloud_keep(c, key, json_true());
    return ret;
}
