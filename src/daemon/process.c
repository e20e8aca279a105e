/* process.c: clocks, signals, and restarting this program in place. */
#include "daemon/process.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t process_steady_us(void)
{
    return clock_us(CLOCK_BOOTTIME);
}

int process_restart(char *const argv[])
{
    (void)execv("/proc/self/exe", argv);
    return -errno;
}

int process_block_signals(struct err *err)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    int r = pthread_sigmask(SIG_BLOCK, &set, NULL);

    (void)signal(SIGPIPE, SIG_IGN);
    return r == 0 ? 0 : err_set(err, -r, "signals cannot be blocked: %s", strerror(r));
}

/* systemd runs ExecReload as the service's own user, not as the user of systemctl. */
void process_name_sender(uid_t uid, char *ret, size_t size)
{
    if (uid == getuid() && getenv("INVOCATION_ID")) /* systemd.exec(5) */
        (void)snprintf(ret, size, "systemctl reload");
    else
        process_name_user(uid, ret, size);
}

void process_name_user(uid_t uid, char *ret, size_t size)
{
    struct passwd entry;
    struct passwd *found = NULL;
    char buffer[2048];

    if (getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) == 0 && found)
        (void)snprintf(ret, size, "%.40s (uid %u)", entry.pw_name, (unsigned)uid);
    else
        (void)snprintf(ret, size, "uid %u", (unsigned)uid);
}

bool process_person_is_good(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@+\\";
    const size_t len = strlen(name);

    return len > 0 && len < PERSON_NAME_MAX && strspn(name, allowed) == len;
}

void process_name_person(uid_t uid, char ret[PERSON_NAME_MAX])
{
    struct passwd entry;
    struct passwd *found = NULL;
    char buffer[2048];

    ret[0] = '\0';
    if (getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) == 0 && found &&
        process_person_is_good(entry.pw_name))
        (void)snprintf(ret, PERSON_NAME_MAX, "%s", entry.pw_name);
}

void process_find_person(const char *name, char ret[PERSON_NAME_MAX])
{
    struct passwd entry;
    struct passwd *found = NULL;
    char buffer[2048];

    (void)snprintf(ret, PERSON_NAME_MAX, "%s", name);
    if (getpwnam_r(name, &entry, buffer, sizeof buffer, &found) != 0 || !found)
        return;
    char first[PERSON_NAME_MAX];

    process_name_person(entry.pw_uid, first);
    if (first[0])
        (void)snprintf(ret, PERSON_NAME_MAX, "%s", first);
}
