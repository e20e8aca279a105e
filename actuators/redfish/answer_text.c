/* answer_text.c: from the bytes of an answer to JSON, and from its links to paths. It does not know what the
 * resources mean. */
#include "actuators/redfish/answer.h"

#include "base/cleanup.h"
#include "net/http.h"
#include "net/peer_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int redfish_parse(const char *text, size_t len, json_t **ret, struct err *err)
{
    json_t *o = NULL;

    if (len > REDFISH_ANSWER_MAX)
        return err_set(err, -EPROTO, "the answer is larger than %zu KiB", REDFISH_ANSWER_MAX / 1024);
    int r = peer_json_read(text, len, REDFISH_DEPTH_MAX, &o, err);
    if (r < 0)
        return r;
    if (!json_is_object(o)) {
        json_decref(o);
        return err_set(err, -EPROTO, "the answer is not a JSON object");
    }
    *ret = o;
    return 0;
}

static bool is_path(const char *path, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (path[i] <= ' ' || path[i] > '~' || path[i] == '\\')
            return false;
    }
    return path[0] == '/' && len < REDFISH_PATH_MAX;
}

static int keep_path(const char *path, struct redfish_path *ret)
{
    size_t len = strcspn(path, "#");

    if (!is_path(path, len))
        return -EPROTO;
    memcpy(ret->text, path, len);
    ret->text[len] = '\0';
    return 0;
}

int redfish_path_of(const char *link, struct redfish_path *ret)
{
    const char *authority = strstr(link, "://");
    const char *path = link;

    if (link[0] != '/')
        path = authority ? strchr(authority + 3, '/') : NULL;
    return path ? keep_path(path, ret) : -EPROTO;
}

int redfish_path_from(const char *page, const char *reference, struct redfish_path *ret)
{
    CLEANUP(freep) char *host = NULL;
    CLEANUP(freep) char *path = NULL;
    char base[REDFISH_PATH_MAX + 16];

    if (reference[0] == '/' && reference[1] != '/')
        return keep_path(reference, ret);
    (void)snprintf(base, sizeof base, "https://host%s", page);
    if (reference[0] == '\0' || http_resolve(base, reference, &host, &path) < 0)
        return -EPROTO;
    return keep_path(path, ret);
}

const json_t *redfish_property(const json_t *o, const char *name)
{
    const char *dot = strchr(name, '.');
    char outer[32];

    if (!dot)
        return json_object_get(o, name);
    (void)snprintf(outer, sizeof outer, "%.*s", (int)(dot - name), name);
    return json_object_get(json_object_get(o, outer), dot + 1);
}

bool redfish_path_in(const json_t *string, struct redfish_path *ret)
{
    const char *s = json_string_value(string);

    return s && redfish_path_of(s, ret) == 0;
}

bool redfish_link(const json_t *o, const char *name, struct redfish_path *ret)
{
    return redfish_path_in(json_object_get(redfish_property(o, name), "@odata.id"), ret);
}

bool redfish_link_at(const json_t *o, const char *name, size_t i, struct redfish_path *ret)
{
    return redfish_path_in(json_object_get(json_array_get(redfish_property(o, name), i), "@odata.id"), ret);
}
