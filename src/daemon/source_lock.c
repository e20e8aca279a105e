/* source_lock.c: takes the name of a source on this machine. */
#include "daemon/source_lock.h"

#include "base/cleanup.h"
#include "base/fingerprint.h"
#include "daemon/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket's name has 107 bytes at most, a URL may have more. */
static socklen_t name_of(const char *source_name, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(ret->sun_path + 1, sizeof ret->sun_path - 1, "ballast/source/%016" PRIx64,
                     fingerprint_add(FINGERPRINT_NONE, source_name));

    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int refuse(const struct sockaddr_un *address, socklen_t len, const char *source_name, struct err *err)
{
    CLEANUP(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct ucred cred = {0};
    socklen_t cred_len = sizeof cred;
    char user[USER_NAME_MAX] = "a user that is not known";

    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, len) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len) == 0)
        process_name_user(cred.uid, user, sizeof user);
    return err_set(
        err, -EBUSY,
        "another ballastd on this machine already works on the source \"%s\" (process %ld of %s); two "
        "would undo each other's moves",
        source_name, (long)cred.pid, user);
}

int source_lock(const char *source_name, int *ret_fd, struct err *err)
{
    struct sockaddr_un address;
    socklen_t len = name_of(source_name, &address);
    CLEANUP(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return err_set(err, -errno, "no socket: %s", strerror(errno));
    if (bind(fd, (const struct sockaddr *)&address, len) < 0)
        return errno == EADDRINUSE ? refuse(&address, len, source_name, err)
                                   : err_set(err, -errno, "the source cannot be locked: %s", strerror(errno));
    if (listen(fd, 1) < 0) /* so that another service can ask who has it */
        return err_set(err, -errno, "the source cannot be locked: %s", strerror(errno));
    *ret_fd = fd;
    fd = -1;
    return 0;
}
