/* snapshot_load.c: reads a file, or standard input, and builds the snapshot or adds VMs to one. */
#include "base/cleanup.h"
#include "model/snapshot_build.h"
#include "model/snapshot_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* from: a file descriptor. */
static ssize_t read_piece(void *from, void *into, size_t size)
{
    ssize_t n;

    do
        n = read(*(const int *)from, into, size);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

/* The file, or standard input for "-". */
static int open_file(const char *path, int *ret, struct err *err)
{
    *ret =
        strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    return *ret < 0 ? err_set(err, -errno, "cannot be opened: %s", strerror(errno)) : 0;
}

int snapshot_load_inventory(const char *path, struct arena *a, struct inventory *ret,
                            struct unknown_fields *unknown, struct err *err)
{
    CLEANUP(closep) int fd = -1;
    const struct json_source source = {.read = read_piece, .from = &fd, .most = SNAPSHOT_BYTES_MAX};
    int r;

    if ((r = open_file(path, &fd, err)) < 0 || (r = snapshot_read_source(&source, a, ret, unknown, err)) < 0)
        (void)err_widen(err, "%s", path);
    return r;
}

int snapshot_load(const char *path, struct arena *a, struct snapshot *ret, struct unknown_fields *unknown,
                  struct err *err)
{
    struct inventory inv;
    int r = snapshot_load_inventory(path, a, &inv, unknown, err);

    if (r == 0 && (r = snapshot_build(&inv, a, ret, err)) < 0)
        (void)err_widen(err, "%s", path);
    return r;
}

int vms_json_load(const char *path, const struct snapshot *cluster, struct arena *a, struct vms_to_place *ret,
                  struct unknown_fields *unknown, struct err *err)
{
    CLEANUP(closep) int fd = -1;
    const struct json_source source = {.read = read_piece, .from = &fd, .most = SNAPSHOT_BYTES_MAX};
    int r;

    if ((r = open_file(path, &fd, err)) < 0 ||
        (r = vms_read_source(&source, cluster, a, ret, unknown, err)) < 0)
        (void)err_widen(err, "%s", path);
    return r;
}
