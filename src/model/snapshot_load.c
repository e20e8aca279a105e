/* snapshot_load.c: reads a file, or standard input, and builds the snapshot or adds VMs to one. */
#include "base/cleanup.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "model/vms_json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define READ_BYTES ((size_t)1024 * 1024)

static int read_whole(int fd, struct strbuf *ret, struct err *err)
{
    CLEANUP(freep) char *piece = malloc(READ_BYTES);

    if (!piece)
        return err_set(err, -ENOMEM, "cannot be read: %s", strerror(ENOMEM));
    for (;;) {
        ssize_t n = read(fd, piece, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, -errno, "cannot be read: %s", strerror(errno));
        if (n == 0)
            return 0;
        strbuf_add(ret, piece, (size_t)n);
        if (ret->overflow)
            return err_set(err, -EFBIG, "/: too large, expected at most %zu bytes", ret->limit);
    }
}

/* The whole file, or standard input for "-". */
static int load_text(const char *path, struct strbuf *ret, struct err *err)
{
    CLEANUP(closep) int opened = -1;
    int fd = STDIN_FILENO;

    if (strcmp(path, "-") != 0) {
        fd = opened = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return err_set(err, -errno, "cannot be opened: %s", strerror(errno));
    }
    strbuf_init(ret, SNAPSHOT_BYTES_MAX);
    return read_whole(fd, ret, err);
}

int snapshot_load(const char *path, struct arena *a, struct snapshot *ret, struct unknown_fields *unknown,
                  struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0};
    struct inventory inv;
    int r;

    if ((r = load_text(path, &text, err)) < 0 ||
        (r = snapshot_read_inventory(text.text, text.len, a, &inv, unknown, err)) < 0 ||
        (r = snapshot_build(&inv, a, ret, err)) < 0)
        (void)err_widen(err, "%s", path);
    return r;
}

int vms_json_load(const char *path, const struct snapshot *cluster, struct arena *a, struct vms_to_place *ret,
                  struct unknown_fields *unknown, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0};
    int r;

    if ((r = load_text(path, &text, err)) < 0 ||
        (r = vms_read(text.text, text.len, cluster, a, ret, unknown, err)) < 0)
        (void)err_widen(err, "%s", path);
    return r;
}
