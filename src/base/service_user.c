/* service_user.c: by the account database of this machine. */
#include "base/service_user.h"

#include "base/remote_address.h"

#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* The folder by its real path, and in it the last part of the path as it is given. */
static bool resolve_folder(const char *path, char ret[PATH_MAX])
{
    char copy[PATH_MAX];
    const char *last = strrchr(path, '/');

    (void)snprintf(copy, sizeof copy, "%s", path);
    if (!realpath(dirname(copy), ret))
        return false;
    const size_t len = strlen(ret);

    return snprintf(ret + len, PATH_MAX - len, "/%s", last ? last + 1 : path) < (int)(PATH_MAX - len);
}

enum service_user service_user_of(const char *config_path)
{
    char path[PATH_MAX];
    char buffer[ENTRY_MAX];
    struct passwd service;
    bool its = (resolve_folder(config_path, path) && is_below(path, CONFIG_FOLDER)) ||
               (realpath(config_path, path) && is_below(path, CONFIG_FOLDER));

    if (!its || !find(&service, buffer))
        return SERVICE_USER_NONE;
    return service.pw_uid == geteuid() ? SERVICE_USER_SELF : SERVICE_USER_OTHER;
}

/* What systemd gives a unit's user; and nothing of root's session, by which ssh and libvirt would find keys.
 */
static void take_environment(const struct passwd *user)
{
    static const char *const of_sessions[] = {"XDG_CONFIG_HOME", "XDG_CACHE_HOME",  "XDG_DATA_HOME",
                                              "XDG_STATE_HOME",  "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK"};

    (void)setenv("HOME", user->pw_dir, 1);
    (void)setenv("USER", user->pw_name, 1);
    (void)setenv("LOGNAME", user->pw_name, 1);
    for (size_t i = 0; i < sizeof of_sessions / sizeof of_sessions[0]; i++)
        (void)unsetenv(of_sessions[i]);
}

int service_user_become(const char *config_path, char *ret, struct err *err)
{
    char buffer[ENTRY_MAX];
    struct passwd to;

    if (!find(&to, buffer))
        return err_set(err, -ENOENT, "there is no user " SERVICE_USER);
    if (!resolve_folder(config_path, ret))
        return err_set(err, -errno, "%s cannot be found: %s", config_path, strerror(errno));
    if (initgroups(SERVICE_USER, to.pw_gid) < 0 || setresgid(to.pw_gid, to.pw_gid, to.pw_gid) < 0 ||
        setresuid(to.pw_uid, to.pw_uid, to.pw_uid) < 0)
        return err_set(err, -errno, "this cannot be looked at as user " SERVICE_USER ": %s", strerror(errno));
    take_environment(&to);
    return 0;
}

int service_user_give(const char *path)
{
    char buffer[ENTRY_MAX];
    struct passwd to;
    struct stat st;

    if (service_user_of(path) == SERVICE_USER_NONE || !find(&to, buffer) || stat(path, &st) < 0)
        return -ENOENT;
    return chown(path, 0, to.pw_gid) < 0 || chmod(path, S_ISDIR(st.st_mode) ? 0750 : 0640) < 0 ? -errno : 0;
}

bool service_user_gets(const char *folder)
{
    char buffer[ENTRY_MAX];
    struct passwd service;

    return find(&service, buffer) && service.pw_uid == geteuid() &&
           (is_below(folder, "/var/lib/ballast") || is_below(folder, "/run/ballast"));
}

bool service_user_is_kept_from(const char *path)
{
    /* ProtectHome, PrivateTmp */
    static const char *const hidden[] = {"/home", "/root", "/run/user", "/tmp", "/var/tmp"};
    char real[PATH_MAX];
    bool is = false;

    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0] && realpath(path, real); i++)
        is = is || is_below(real, hidden[i]);
    return is;
}

/* A command can only be copied whole, and where no part of it means something else to a shell. */
static bool put_command(const char *first, const char *group, const char *mode, const char *path,
                        const char *what_for, const char *user, char ret[SERVICE_USER_ADVICE_MAX])
{
    return remote_address_is_plain_word(path, "/._-+:@,=") &&
           snprintf(ret, SERVICE_USER_ADVICE_MAX, "`sudo %s%s %s && sudo chmod %s %s` lets user %s %s", first,
                    group, path, mode, path, user, what_for) < SERVICE_USER_ADVICE_MAX;
}

const char *service_user_advice(const char *path, char ret[SERVICE_USER_ADVICE_MAX])
{
    char real[PATH_MAX];
    char buffer[ENTRY_MAX];
    struct passwd entry;
    struct passwd *found = NULL;
    struct group group;
    struct group *its = NULL;
    char names[ENTRY_MAX];
    const bool enters = realpath(path, real); /* else it ends with the first part that cannot be looked up */
    const char *where = enters ? real : dirname(real);

    (void)getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found);
    (void)getgrgid_r(getegid(), &group, names, sizeof names, &its);
    const char *user = found ? entry.pw_name : "of this process";

    const char *container = getenv("container"); /* by podman, or the image; LXC is no such one */

    if (container && (strcmp(container, "podman") == 0 || strcmp(container, "oci") == 0)) {
        (void)snprintf(
            ret, SERVICE_USER_ADVICE_MAX,
            "give it the group %u and mode %s outside of the container (chgrp, chmod), for user %.40s",
            (unsigned)getegid(), enters ? "0640" : "0750", user);
        return ret;
    }
    if (enters && its && put_command("chown root:", its->gr_name, "0640", where, "read it", user, ret))
        return ret;
    if (!enters && its && is_below(where, CONFIG_FOLDER) &&
        put_command("chgrp ", its->gr_name, "0750", where, "enter the folder", user, ret))
        return ret;
    if (enters)
        (void)snprintf(ret, SERVICE_USER_ADVICE_MAX,
                       "let user %.40s read it, best by its group and mode 0640", user);
    else
        (void)snprintf(ret, SERVICE_USER_ADVICE_MAX,
                       "user %.40s may not enter the folder %.200s; keep the file in " CONFIG_FOLDER, user,
                       where);
    return ret;
}
