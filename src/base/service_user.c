/* service_user.c: by the account database of this machine. */
#include "base/service_user.h"

#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_FOLDER "/etc/ballast"
#define ENTRY_MAX 16384 /* bytes of an account's entry */

static bool is_below(const char *path, const char *folder)
{
    const size_t len = strlen(folder);

    return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool find(struct passwd *ret, char buffer[ENTRY_MAX])
{
    struct passwd *found = NULL;

    return getpwnam_r(SERVICE_USER, ret, buffer, ENTRY_MAX, &found) == 0 && found;
}

enum service_user service_user_of(const char *config_path)
{
    char path[PATH_MAX];
    char buffer[ENTRY_MAX];
    struct passwd service;

    if (!realpath(config_path, path) || !is_below(path, CONFIG_FOLDER) || !find(&service, buffer))
        return SERVICE_USER_NONE;
    return service.pw_uid == geteuid() ? SERVICE_USER_SELF : SERVICE_USER_OTHER;
}

int service_user_become(struct err *err)
{
    char buffer[ENTRY_MAX];
    struct passwd to;

    if (!find(&to, buffer))
        return err_set(err, -ENOENT, "there is no user " SERVICE_USER);
    if (initgroups(SERVICE_USER, to.pw_gid) < 0 || setresgid(to.pw_gid, to.pw_gid, to.pw_gid) < 0 ||
        setresuid(to.pw_uid, to.pw_uid, to.pw_uid) < 0)
        return err_set(err, -errno, "this cannot be looked at as user " SERVICE_USER ": %s", strerror(errno));
    return 0;
}

bool service_user_gets(const char *folder)
{
    char buffer[ENTRY_MAX];
    struct passwd service;

    return find(&service, buffer) && service.pw_uid == geteuid() &&
           (is_below(folder, "/var/lib/ballast") || is_below(folder, "/run/ballast"));
}

const char *service_user_advice(const char *path, char ret[SERVICE_USER_ADVICE_MAX])
{
    char folder[PATH_MAX];
    char buffer[ENTRY_MAX];
    struct passwd user = {.pw_name = ""};
    struct passwd *found = NULL;
    struct group group = {.gr_name = ""};
    struct group *its = NULL;
    char names[ENTRY_MAX];

    (void)getpwuid_r(geteuid(), &user, buffer, sizeof buffer, &found);
    (void)getgrgid_r(getegid(), &group, names, sizeof names, &its);
    (void)snprintf(folder, sizeof folder, "%s", path);
    if (access(dirname(folder), X_OK) < 0)
        (void)snprintf(ret, SERVICE_USER_ADVICE_MAX,
                       "user %.40s may not enter the folder %.120s; keep the file in " CONFIG_FOLDER,
                       found ? user.pw_name : "of this process", folder);
    else
        (void)snprintf(ret, SERVICE_USER_ADVICE_MAX,
                       "`sudo chown root:%.40s %.160s && sudo chmod 0640 %.160s` lets user %.40s read it",
                       its ? group.gr_name : "GROUP", path, path, found ? user.pw_name : "of this process");
    return ret;
}
