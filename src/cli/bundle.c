/* bundle.c: one tar archive, compressed with gzip. */
#include "cli/bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bundle {
    struct archive *archive;
    const char *file, *folder;
    struct arena *a;
    int fd;
    bool failed;
};

static int fail(struct bundle *b, struct err *err)
{
    b->failed = true;
    return err_set(err, -EIO, "%s: %s", b->file, archive_error_string(b->archive));
}

int bundle_begin(const char *file, const char *folder, struct arena *a, struct bundle **ret, struct err *err)
{
    struct bundle *b = arena_array(a, struct bundle, 1);

    *b = (struct bundle){.file = file, .folder = folder, .a = a};
    b->fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (b->fd < 0)
        return err_set(err, -errno, "%s: %s", file, strerror(errno));
    b->archive = archive_write_new();
    if (!b->archive) {
        (void)close(b->fd);
        (void)unlink(file);
        return err_set(err, -ENOMEM, "out of memory");
    }
    *ret = b;
    if (archive_write_add_filter_gzip(b->archive) != ARCHIVE_OK ||
        archive_write_set_format_pax_restricted(b->archive) != ARCHIVE_OK ||
        archive_write_open_fd(b->archive, b->fd) != ARCHIVE_OK) {
        (void)fail(b, err);
        (void)bundle_end(b, false, NULL);
        return -EIO;
    }
    return 0;
}

int bundle_add(struct bundle *b, const char *name, const char *text, size_t len, struct err *err)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, arena_printf(b->a, "%s/%s", b->folder, name));
    archive_entry_set_size(e, (la_int64_t)len);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0600);
    archive_entry_set_mtime(e, time(NULL), 0);
    const bool written = archive_write_header(b->archive, e) == ARCHIVE_OK &&
                         (len == 0 || archive_write_data(b->archive, text, len) == (la_ssize_t)len);

    archive_entry_free(e);
    return written ? 0 : fail(b, err);
}

int bundle_end(struct bundle *b, bool keep, struct err *err)
{
    int r = archive_write_close(b->archive) == ARCHIVE_OK ? 0 : fail(b, err);

    (void)archive_write_free(b->archive);
    if (fsync(b->fd) < 0 && r == 0 && errno != EINVAL)
        r = err_set(err, -errno, "%s: %s", b->file, strerror(errno));
    (void)close(b->fd);
    if (!keep || r < 0 || b->failed)
        (void)unlink(b->file);
    return r;
}
