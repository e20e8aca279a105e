/* pages.c: reads the built files of the dashboard. */
#include "http/pages.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX "index.html"
#define ASSETS "assets"
#define FILES_MAX 256
#define FILE_MAX ((size_t)16 << 20)
#define ETAG_BYTES 16

struct pages {
    struct page list[FILES_MAX];
    size_t n;
};

static const struct {
    const char *end, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".txt", "text/plain; charset=utf-8"},
};

static const char *type_of(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t end = strlen(types[i].end);

        if (len > end && strcmp(name + len - end, types[i].end) == 0)
            return types[i].type;
    }
    return NULL;
}

static void make_etag(struct page *f)
{
    unsigned char hash[32] = {0};
    size_t n = 0;

    (void)gnutls_hash_fast(GNUTLS_DIG_SHA256, f->bytes, f->size, hash);
    f->etag[n++] = '"';
    for (size_t i = 0; i < ETAG_BYTES; i++)
        n += (size_t)snprintf(f->etag + n, sizeof f->etag - n, "%02x", hash[i]);
    f->etag[n++] = '"';
    f->etag[n] = '\0';
}

/* -ENOENT: there is no such file. */
static int read_whole(int folder, const char *name, struct strbuf *ret)
{
    CLEANUP(closep) int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat is;
    char part[65536];
    ssize_t n;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &is) < 0)
        return -errno;
    if (!S_ISREG(is.st_mode))
        return -EINVAL;
    while ((n = read(fd, part, sizeof part)) > 0)
        strbuf_add(ret, part, (size_t)n);
    return n < 0 ? -errno : ret->overflow ? -EFBIG : 0;
}

static int add(struct pages *p, int folder, const char *name, bool constant)
{
    struct strbuf text;

    strbuf_init(&text, FILE_MAX);
    int r = p->n == FILES_MAX ? -ENFILE : read_whole(folder, name, &text);

    if (r < 0 || text.len == 0) {
        strbuf_release(&text);
        return r;
    }
    struct page *f = &p->list[p->n++];

    f->name = xstrdup(name);
    f->type = type_of(name);
    f->constant = constant;
    f->bytes = text.text;
    f->size = text.len;
    make_etag(f);
    return 0;
}

static void add_all(struct pages *p, const char *path, int folder)
{
    DIR *d = fdopendir(folder);
    struct dirent *e;

    if (!d) {
        (void)close(folder);
        return;
    }
    while ((e = readdir(d)) != NULL) {
        int r = e->d_name[0] == '.' || !type_of(e->d_name) ? 0 : add(p, folder, e->d_name, true);

        if (r < 0)
            log_warning("HTTP: %s/" ASSETS "/%s is left out: %s", path, e->d_name, strerror(-r));
    }
    (void)closedir(d);
}

struct pages *pages_read(const char *path)
{
    struct pages *p = xcalloc(1, sizeof *p);
    CLEANUP(closep) int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = folder < 0 ? -errno : add(p, folder, INDEX, false);

    if (r < 0 && r != -ENOENT)
        log_warning("HTTP: no dashboard: %s cannot be read: %s", path, strerror(-r));
    if (p->n == 0)
        return p;
    int assets = openat(folder, ASSETS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (assets >= 0)
        add_all(p, path, assets);
    return p;
}

void pages_free(struct pages *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++) {
        free(p->list[i].name);
        free(p->list[i].bytes);
    }
    free(p);
}

const struct page *pages_find(const struct pages *p, const char *asset)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->list[i].constant ? asset && strcmp(p->list[i].name, asset) == 0 : !asset)
            return &p->list[i];
    }
    return NULL;
}
