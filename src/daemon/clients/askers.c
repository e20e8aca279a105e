/* askers.c: looks up again who asked. Who may ask at all is decided where a request comes in. */
#include "daemon/clients/askers.h"

#include "base/cleanup.h"
#include "daemon/process.h"
#include "store/tokens.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOKEN " (token)"
#define GROUPS_MOST 1024

/* Tokens in a store that cannot be read are not in force. */
static const char *token_lost(struct store *store, const char *name, size_t len, instant_s asked)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct token_record *list = NULL;
    struct err err = {0};
    size_t i = 0, n = 0;

    if (store_list_tokens(store, &a, &list, &n, &err) < 0)
        return "the tokens cannot be read";
    while (i < n && (strncmp(list[i].name, name, len) != 0 || list[i].name[len]))
        i++;
    return i == n || list[i].created > asked                       ? "the token was revoked"
           : list[i].expires != 0 && list[i].expires <= time(NULL) ? "the token has expired"
           : list[i].role < ROLE_OPERATOR                          ? "its role is too low now"
                                                                   : NULL;
}

static const char *user_lost(const struct config_roles *roles, const char *by, const char *number)
{
    const uid_t uid = (uid_t)strtoul(number, NULL, 10);
    struct passwd entry, *found = NULL;
    char buffer[2048], name[USER_NAME_MAX];
    gid_t groups[GROUPS_MOST];
    int n = GROUPS_MOST;

    process_name_user(uid, name, sizeof name);
    if (strcmp(name, by) != 0)
        return "the user is not there";
    if (getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) != 0 || !found ||
        getgrouplist(found->pw_name, found->pw_gid, groups, &n) < 0)
        n = 0;
    const gid_t gid = found ? found->pw_gid : (gid_t)-1;

    return config_role(roles, uid, gid, groups, (size_t)n) < ROLE_OPERATOR ? "its role is too low now" : NULL;
}

static const char *lost_right(struct people *p, const char *by, instant_s asked)
{
    const struct askers *s = (const struct askers *)p;
    const size_t len = strlen(by), suffix = strlen(TOKEN);
    const char *number = strstr(by, "uid ");

    if (len > suffix && strcmp(by + len - suffix, TOKEN) == 0)
        return token_lost(s->store, by, len - suffix, asked);
    if (strcmp(by, "mqtt") == 0)
        return *(*s->config)->mqtt.commands ? NULL : "no command is taken from the broker now";
    return number ? user_lost(&(*s->config)->roles, by, number + strlen("uid ")) : NULL;
}

const struct people_ops askers_port = {.lost_right = lost_right};
