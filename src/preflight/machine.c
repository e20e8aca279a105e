/* machine.c: what the service needs of this machine: folders that it may write to, and a time zone. It makes
 * nothing. */
#include "preflight/internal.h"

#include "base/cleanup.h"
#include "base/service_user.h"
#include "plugins/power_methods.h"
#include "preflight/preflight.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PASSWD_TEXT_MAX 4096

static const char *user_name(struct arena *a)
{
    char text[PASSWD_TEXT_MAX];
    struct passwd entry;
    struct passwd *found = NULL;

    if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) != 0 || !found)
        return arena_printf(a, "user %ld", (long)geteuid());
    return arena_strdup(a, found->pw_name);
}

void preflight_advise_unread(struct preflight *ret, const char *file)
{
    char advice[SERVICE_USER_ADVICE_MAX];

    preflight_advise(
        ret,
        "run this as root, who looks as the packaged service's user; if the service runs as this user: %s",
        service_user_advice(file, advice));
}

/* The folder itself, or the nearest one above it that is there. */
static void nearest_folder(char path[PATH_MAX])
{
    while (access(path, F_OK) < 0 && errno == ENOENT && strcmp(path, "/") != 0 && strcmp(path, ".") != 0) {
        char copy[PATH_MAX];

        (void)snprintf(copy, sizeof copy, "%s", path);
        (void)snprintf(path, PATH_MAX, "%s", dirname(copy));
    }
}

static void look_at_folder(const char *what, const char *folder, const char *user, struct preflight *ret)
{
    char path[PATH_MAX];
    struct stat st;

    (void)snprintf(path, sizeof path, "%s", folder);
    nearest_folder(path);
    const bool there = strcmp(path, folder) == 0;

    if (!there && service_user_gets(folder)) {
        preflight_add(ret, PREFLIGHT_MACHINE, PREFLIGHT_OK, "%s %s: the service's unit makes the folder",
                      what, folder);
    } else if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) < 0) {
        preflight_add(ret, PREFLIGHT_MACHINE, PREFLIGHT_PROBLEM, "%s %s: %s may not write to %s: %s", what,
                      folder, user, path, strerror(errno));
        preflight_advise(
            ret,
            "make the folder and give it to %s, if the service runs as this user (the unit of the package "
            "does so); else run this as the service's user",
            user);
    } else if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
        preflight_add(ret, PREFLIGHT_MACHINE, PREFLIGHT_PROBLEM, "%s %s: %s is no folder", what, folder,
                      path);
        preflight_advise(ret, "choose another path");
    } else {
        preflight_add(ret, PREFLIGHT_MACHINE, PREFLIGHT_OK, "%s %s: %s may write there%s", what, folder, user,
                      there ? "" : "; the service makes the folder");
    }
}

/* Files that an earlier start as another user has left. */
static void look_at_files(const char *folder, const char *user, struct preflight *ret)
{
    DIR *d = opendir(folder);
    const struct dirent *entry;

    while (d && (entry = readdir(d)) != NULL) {
        if (entry->d_name[0] == '.' || faccessat(dirfd(d), entry->d_name, W_OK, AT_EACCESS) == 0 ||
            errno == ENOENT)
            continue;
        preflight_add(ret, PREFLIGHT_MACHINE, PREFLIGHT_PROBLEM, "state_dir %s: %s may not write to %s there",
                      folder, user, entry->d_name);
        preflight_advise(ret,
                         "give the files in this folder to the user of the service: an earlier start was by "
                         "another one");
        break;
    }
    if (d)
        (void)closedir(d);
}

static void look_at_zone(const struct config *c, struct preflight *ret)
{
    if (c->schedule.n_windows == 0 && c->schedule.n_ready_by == 0 && c->balance.n_windows == 0)
        return;
    preflight_add(ret, PREFLIGHT_MACHINE, PREFLIGHT_OK, "time zone of windows and ready_by: %s%s",
                  c->schedule.zone ? c->schedule.zone : c->balance.zone,
                  c->dpm_time_zone ? ""
                                   : ", this machine's own (`ballast schedule --config` lists the times)");
}

size_t preflight_packets(const struct config *c, struct arena *a, struct err **ret)
{
    const struct power_host *hosts = config_power(c, NULL, a);
    struct err *list = arena_array(a, struct err, c->n_power_hosts);
    size_t n = 0;

    for (size_t i = 0; i < c->n_power_hosts; i++)
        n += power_methods_check_network(&hosts[i], &list[n]) < 0;
    *ret = list;
    return n;
}

static void look_at_packets(const struct config *c, struct preflight *ret)
{
    struct err *list;
    size_t n = preflight_packets(c, ret->a, &list);

    for (size_t i = 0; i < n; i++) {
        preflight_add(ret, PREFLIGHT_MACHINE,
                      list[i].code == -ENETUNREACH ? PREFLIGHT_NOTE : PREFLIGHT_PROBLEM, "%s", list[i].text);
        preflight_advise(ret,
                         "correct `wol.broadcast` or `wol.interface` of the host, or set `wol.relay` to a "
                         "machine in its network");
    }
}

void preflight_machine(const struct config *c, struct preflight *ret)
{
    const char *user = user_name(ret->a);
    char socket[PATH_MAX];

    (void)snprintf(socket, sizeof socket, "%s", c->socket);
    if (geteuid() != 0 && service_user_of(c->path) == SERVICE_USER_OTHER) {
        preflight_add(
            ret, PREFLIGHT_MACHINE, PREFLIGHT_NOTE,
            "whether the service may write to its folders was not looked at: this ran as user %s, and "
            "the service runs as " SERVICE_USER,
            user);
        preflight_advise(ret, "run it with sudo: it then looks as the user of the service");
    } else {
        look_at_folder("state_dir", c->state_dir, user, ret);
        look_at_files(c->state_dir, user, ret);
        look_at_folder("folder of the socket", dirname(socket), user, ret);
    }
    if (geteuid() == 0) {
        preflight_add(ret, PREFLIGHT_MACHINE, PREFLIGHT_NOTE,
                      "this ran as root, which may write everywhere and read every password file");
        preflight_advise(ret, "run it as the user of the service, too");
    }
    look_at_zone(c, ret);
    look_at_packets(c, ret);
}
