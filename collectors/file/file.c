/* file.c: reads a snapshot file and returns it as an inventory. It fills in nothing that the file leaves
 * out. */
#include "collectors/file/file.h"

#include "base/cleanup.h"
#include "model/snapshot_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct collector {
    const char *file;
};

static int create(const struct source_config *cfg, struct collector **ret, struct err *err)
{
    const struct file_settings *settings = cfg->settings;

    if (!settings || !settings->file || !settings->file[0])
        return err_set(err, -EINVAL, "source.file is missing: expected the path of a snapshot");
    struct collector *c = calloc(1, sizeof *c);
    if (!c)
        return err_set(err, -ENOMEM, "out of memory");
    c->file = settings->file;
    *ret = c;
    return 0;
}

static void destroy(struct collector *c)
{
    free(c);
}

static int read_all(const char *path, struct strbuf *ret, struct err *err)
{
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    char piece[65536];
    size_t n;

    if (!f)
        return err_set(err, -errno, "%s: cannot be opened: %s", path, strerror(errno));
    while ((n = fread(piece, 1, sizeof piece, f)) > 0 && !ret->overflow)
        strbuf_add(ret, piece, n);
    if (ferror(f))
        return err_set(err, -EIO, "%s: cannot be read", path);
    if (ret->overflow)
        return err_set(err, -EFBIG, "%s: larger than %zu MiB", path, SNAPSHOT_BYTES_MAX / (1024 * 1024));
    return 0;
}

static int collect(struct collector *c, struct arena *a, struct inventory *ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0};

    strbuf_init(&text, SNAPSHOT_BYTES_MAX);
    int r = read_all(c->file, &text, err);
    if (r < 0)
        return r;
    struct inventory inv = {0};
    r = snapshot_read_inventory(text.text, text.len, a, &inv, NULL, err);
    if (r < 0)
        return err_widen(err, "%s", c->file);
    *ret = inv;
    return 0;
}

const struct collector_ops file_collector = {
    .kind = "file", .create = create, .collect = collect, .destroy = destroy};

const struct plugin file_plugin = {.collector = &file_collector};
