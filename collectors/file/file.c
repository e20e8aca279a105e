/* file.c: reads a snapshot file and returns it as an inventory. It fills in nothing that the file leaves
 * out. */
#include "collectors/file/file.h"

#include "base/xalloc.h"
#include "model/snapshot_json.h"

#include <errno.h>
#include <stdlib.h>

struct collector {
    const char *file;
};

static int create(const struct source_config *cfg, struct collector **ret, struct err *err)
{
    const struct file_settings *settings = cfg->settings;

    if (!settings || !settings->file || !settings->file[0])
        return err_set(err, -EINVAL, "source.file is missing: expected the path of a snapshot");
    struct collector *c = xcalloc(1, sizeof *c);
    c->file = settings->file;
    *ret = c;
    return 0;
}

static void destroy(struct collector *c)
{
    free(c);
}

static int collect(struct collector *c, struct arena *a, struct inventory *ret, struct err *err)
{
    struct inventory inv = {0};
    int r = snapshot_load_inventory(c->file, a, &inv, NULL, err);

    if (r == 0)
        *ret = inv;
    return r;
}

const struct collector_ops file_collector = {
    .kind = "file", .create = create, .collect = collect, .destroy = destroy};

const struct plugin file_plugin = {.collector = &file_collector};
