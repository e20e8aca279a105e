/* listener.c: makes the Unix socket. Clients are server.c's. */
#include "daemon/clients/listener.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096 /* connections that wait to be accepted; the kernel may allow fewer */

static int make_directory(const char *path, struct err *err)
{
    char copy[PATH_MAX];

    (void)snprintf(copy, sizeof copy, "%s", path);
    const char *dir = dirname(copy);

    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return err_set(err, -errno,
                       "the directory %s for the socket cannot be made: %m; set socket to a path in a folder "
                       "that this user may make",
                       dir);
    return 0;
}

/* Removes a socket without a listener. Any other file in its place is an error. */
static int clear_place(const struct sockaddr_un *address, struct err *err)
{
    struct stat st;
    int r = 0;

    if (lstat(address->sun_path, &st) < 0)
        return errno == ENOENT ? 0 : err_set(err, -errno, "%s: %m", address->sun_path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, -EEXIST, "%s is there already and is not a socket; set socket to another path",
                       address->sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return err_set(err, -errno, "no socket: %m");
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN)
        r = err_set(err, -EADDRINUSE, "another ballastd listens on %s", address->sun_path);
    else if (errno != ECONNREFUSED && errno != ENOENT)
        r = err_set(err, -errno, "%s: %m", address->sun_path);
    else if (unlink(address->sun_path) < 0 && errno != ENOENT)
        r = err_set(err, -errno, "the old socket %s cannot be removed: %m", address->sun_path);
    (void)close(fd);
    return r;
}

int listener_open(const char *path, int *ret, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int r;

    if (strlen(path) >= sizeof address.sun_path)
        return err_set(err, -ENAMETOOLONG, "%s: longer than the %zu bytes that a socket's path may have",
                       path, sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if ((r = make_directory(path, err)) < 0 || (r = clear_place(&address, err)) < 0)
        return r;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return err_set(err, -errno, "no socket: %m");
    mode_t mask = umask(0117); /* mode 0660 from the start */

    r = bind(fd, (const struct sockaddr *)&address, sizeof address);
    int code = errno;

    (void)umask(mask);
    if (r < 0 || listen(fd, BACKLOG) < 0) {
        code = r < 0 ? code : errno;
        (void)close(fd);
        return err_set(err, -code, "%s cannot be listened on: %s", path, strerror(code));
    }
    *ret = fd;
    return 0;
}
