/* secret.c: reads a password from its file. */
#include "base/secret.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/service_user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads until the buffer is full or the file ends. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
    size_t got = 0;

    while (got < size) {
        ssize_t n = read(fd, buffer + got, size - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

static int check_line(const char *path, char *line, size_t *len, struct err *err)
{
    if (*len && line[*len - 1] == '\n')
        (*len)--;
    if (*len && line[*len - 1] == '\r')
        (*len)--;
    if (*len > SECRET_MAX)
        return err_set(err, -EINVAL, "%s holds more than %d bytes, expected a password on one line", path,
                       SECRET_MAX);
    if (*len == 0)
        return err_set(err, -EINVAL, "%s is empty, expected a password on one line", path);
    if (memchr(line, '\n', *len) || memchr(line, '\0', *len))
        return err_set(err, -EINVAL, "%s holds more than one line of text, expected a password on one line",
                       path);
    return 0;
}

int secret_read(const char *path, struct arena *a, const char **ret, bool *ret_exposed, struct err *err)
{
    /* Without O_NONBLOCK, opening a FIFO would block the start. */
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char buffer[SECRET_MAX + 3]; /* one byte after the newline, to detect a long password */
    char advice[SERVICE_USER_ADVICE_MAX];
    struct stat st;

    if (fd < 0 && errno == EACCES)
        return err_set(err, -EACCES, "%s cannot be opened: %s; %s", path, strerror(EACCES),
                       service_user_advice(path, advice));
    if (fd < 0)
        return err_set(err, -errno, "%s cannot be opened: %s%s", path, strerror(errno),
                       errno == ENOENT ? "; put the password on one line of that file" : "");
    if (fstat(fd, &st) < 0)
        return err_set(err, -errno, "%s cannot be examined: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EINVAL, "%s is not a regular file", path);
    ssize_t n = read_all(fd, buffer, sizeof(buffer));

    if (n < 0)
        return err_set(err, (int)n, "%s cannot be read: %s", path, strerror((int)-n));
    size_t len = (size_t)n;
    int r = check_line(path, buffer, &len, err);

    if (r == 0) {
        *ret = arena_strndup(a, buffer, len);
        *ret_exposed = (st.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) != 0;
    }
    explicit_bzero(buffer, sizeof(buffer));
    return r;
}

void secret_now(const char *path, const char *at_start, const char *what, char ret[SECRET_MAX + 1])
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *secret = NULL;
    struct err err = {0};
    bool exposed;

    if (!path || secret_read(path, &a, &secret, &exposed, &err) < 0)
        secret = at_start;
    if (err.text[0])
        log_warning("%s; the %s that it held at the start is used", err.text, what);
    (void)snprintf(ret, SECRET_MAX + 1, "%s", secret);
}
