/* service_user.h: the user that the packaged service runs as (packaging/systemd), and what lets a user read a
 * file. A check by root says nothing of what that user may read and write. */
#ifndef BALLAST_BASE_SERVICE_USER_H
#define BALLAST_BASE_SERVICE_USER_H

#include <ballast/err.h>

#include <stdbool.h>

#define SERVICE_USER "ballast"

enum service_user {
    SERVICE_USER_NONE,  /* the packaged service does not read the configuration of this path */
    SERVICE_USER_SELF,  /* it does, and this process has its user */
    SERVICE_USER_OTHER, /* it does, and this process has another user */
};
/* By the path or by what it is a link to. */
enum service_user service_user_of(const char *config_path);

/* For root: this process becomes that user, for good, with the environment of one. ret: the configuration's
 * path from the root, since that user may not be able to enter the working folder; PATH_MAX bytes. */
int service_user_become(const char *config_path, char *ret, struct err *err);

/* For root: lets that user read a file below /etc/ballast, or what is in a folder there. -ENOENT: it is no
 * such. */
int service_user_give(const char *path);

/* Whether the service's unit makes this folder, with its user as the owner, when it starts. */
bool service_user_gets(const char *folder);

/* Whether the service's unit keeps the file from it, whatever its mode is (ProtectHome, PrivateTmp). */
bool service_user_is_kept_from(const char *path);

#define SERVICE_USER_ADVICE_MAX 512

/* The file cannot be read for want of permission: what lets the process's user read it, in a container what
 * is to be done outside of it. A part of a sentence. */
const char *service_user_advice(const char *path, char ret[SERVICE_USER_ADVICE_MAX]);

#endif
