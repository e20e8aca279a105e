/* cloud.c: reads a cloud from one file, several, or a folder, and compiles it to a snapshot. */
#include "cli/cloud.h"

#include "base/cleanup.h"
#include "cli/output.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CONF_MEMBER "nova.conf"
#define CONF_BYTES_MAX (16u << 20)

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text);
    size_t m = strlen(end);

    return n > m && strcmp(text + n - m, end) == 0;
}

static enum exit_code add_member(json_t *cloud, const char *path, const char *name, json_t *value)
{
    if (json_object_get(cloud, name)) {
        cli_error("%s: \"%s\" is in another file already, expected it once", path, name);
        json_decref(value);
        return EXIT_WRONG;
    }
    (void)json_object_set_new(cloud, name, value);
    return EXIT_DONE;
}

/* "server-groups.json" has "server_groups". */
static const char *member_of(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *ret = arena_strndup(a, name, strcspn(name, "."));

    for (char *at = ret; *at; at++)
        *at = *at == '-' ? '_' : *at;
    return ret;
}

static enum exit_code add_json(const char *path, struct arena *a, json_t *cloud)
{
    json_error_t where;
    CLEANUP(json_decrefp)
    json_t *of = strcmp(path, "-") == 0 ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &where)
                                        : json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    const char *key;
    json_t *value;
    enum exit_code code = EXIT_DONE;

    if (!of)
        return cli_fail(EXIT_WRONG, "%s: line %d: %s", path, where.line, where.text);
    if (json_is_array(of) && strcmp(path, "-") != 0)
        return add_member(cloud, path, member_of(path, a), json_incref(of));
    if (!json_is_object(of))
        return cli_fail(EXIT_WRONG, "%s: expected an object with hypervisors, aggregates, flavors and so on",
                        path);
    json_object_foreach(of, key, value)
    {
        if (code == EXIT_DONE)
            code = add_member(cloud, path, key, json_incref(value));
    }
    return code;
}

static enum exit_code add_conf(const char *path, struct arena *a, json_t *cloud)
{
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    char *text = arena_array(a, char, CONF_BYTES_MAX + 1);
    size_t n = f ? fread(text, 1, CONF_BYTES_MAX, f) : 0;
    json_t *value;

    if (!f || ferror(f))
        return cli_fail(EXIT_WRONG, "%s: %s", path, strerror(errno));
    if (n == CONF_BYTES_MAX || memchr(text, '\0', n) || !(value = json_stringn(text, n)))
        return cli_fail(EXIT_WRONG, "%s: expected a text in UTF-8 of less than %u bytes", path,
                        CONF_BYTES_MAX);
    return add_member(cloud, path, CONF_MEMBER, value);
}

static enum exit_code add_file(const char *path, struct arena *a, json_t *cloud)
{
    return ends_with(path, ".conf") ? add_conf(path, a, cloud) : add_json(path, a, cloud);
}

static enum exit_code add_folder(const char *path, struct arena *a, json_t *cloud)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    enum exit_code code = EXIT_DONE;
    bool any = false;

    if (n < 0)
        return cli_fail(EXIT_WRONG, "%s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        bool is = name[0] != '.' && (ends_with(name, ".json") || ends_with(name, ".conf"));

        any = any || is;
        if (is && code == EXIT_DONE)
            code = add_file(arena_printf(a, "%s/%s", path, name), a, cloud);
        free(entries[i]);
    }
    free(entries);
    if (code == EXIT_DONE && !any)
        return cli_fail(EXIT_WRONG, "%s: has no *.json and no *.conf", path);
    return code;
}

enum exit_code cli_read_cloud(const char *const *paths, size_t n, struct arena *a, json_t **ret)
{
    CLEANUP(json_decrefp) json_t *cloud = json_object();
    enum exit_code code = EXIT_DONE;

    for (size_t i = 0; i < n && code == EXIT_DONE; i++) {
        struct stat st;
        bool is_folder = strcmp(paths[i], "-") != 0 && stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode);

        code = is_folder ? add_folder(paths[i], a, cloud) : add_file(paths[i], a, cloud);
    }
    if (code == EXIT_DONE)
        *ret = json_incref(cloud);
    return code;
}

enum exit_code cli_compile_cloud(cloud_compile *compile, const json_t *cloud, const char *whose,
                                 struct arena *a, struct snapshot *ret)
{
    struct err err = {0};
    struct inventory inv;
    CLEANUP(json_decrefp) json_t *made = NULL;

    if (compile(cloud, a, &made, &err) < 0)
        return cli_fail(EXIT_WRONG, "%s: %s", whose, err.text);
    CLEANUP(freep) char *text = json_dumps(made, JSON_COMPACT);

    if (snapshot_read_inventory(text, strlen(text), a, &inv, NULL, &err) == 0 &&
        snapshot_build(&inv, a, ret, &err) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "%s: compiled: %s", whose, err.text);
}
