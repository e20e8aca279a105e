/* roles.c: the roles of users and groups at the Unix socket, and what takes two people. What each role may do
 * is request/request.h's. */
#include "config/sections.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#define ENTRIES_MOST 1000
#define NAME_BYTES_MAX 256
#define ENTRY_BYTES (64 * 1024) /* of a group: the names of its members, too */

/* ---- users and groups of this machine -------------------------------------------------------- */

static bool has_name(uid_t uid, const char *name)
{
    char buffer[2048];
    struct passwd entry;
    struct passwd *found = NULL;

    return getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) == 0 && found &&
           strcmp(found->pw_name, name) == 0;
}

static bool user_exists(const char *name)
{
    char buffer[2048];
    struct passwd entry;
    struct passwd *found = NULL;

    return getpwnam_r(name, &entry, buffer, sizeof buffer, &found) == 0 && found;
}

static bool find_group(const char *name, gid_t *ret)
{
    char buffer[ENTRY_BYTES];
    struct group entry;
    struct group *found = NULL;

    if (getgrnam_r(name, &entry, buffer, sizeof buffer, &found) != 0 || !found)
        return false;
    *ret = found->gr_gid;
    return true;
}

static bool group_exists(const char *name)
{
    gid_t gid;

    return find_group(name, &gid);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_entries(const struct section *s, const struct node *map, bool (*exists)(const char *name),
                        struct config_role **ret, size_t *ret_n)
{
    if (map->kind != NODE_MAP || map->n > ENTRIES_MOST)
        return reader_refuse(&s->reader, map, "a section of at most 1,000 names, each with its role");
    *ret = arena_array(s->reader.a, struct config_role, map->n + 1);
    for (const struct node *n = map->first; n; n = n->next) {
        const char *word = node_text(n);
        struct config_role *entry = &(*ret)[*ret_n];

        if (strlen(n->key) > NAME_BYTES_MAX || !word || role_parse(word, &entry->role) < 0)
            return reader_refuse(&s->reader, n, "viewer, operator or admin");
        entry->name = arena_strdup(s->reader.a, n->key);
        (*ret_n)++;
        if (s->use != CONFIG_FOR_POLICY && !exists(n->key))
            section_warn(s, n->line, "roles: this machine has no %s \"%s\"",
                         exists == user_exists ? "user" : "group", n->key);
    }
    return 0;
}

int config_read_roles(const struct section *s)
{
    struct config_roles *roles = &s->config->roles;
    const struct node *map = node_find(s->root, "roles");
    int r = 0;

    if (!map || node_is_null(map))
        return 0;
    if (map->kind != NODE_MAP)
        return reader_refuse(&s->reader, map, "the sections users and groups");
    for (const struct node *n = map->first; n && r == 0; n = n->next) {
        if (strcmp(n->key, "users") == 0)
            r = read_entries(s, n, user_exists, &roles->users, &roles->n_users);
        else if (strcmp(n->key, "groups") == 0)
            r = read_entries(s, n, group_exists, &roles->groups, &roles->n_groups);
        else
            r = reader_complain(&s->reader, n, "is not a key, expected users or groups");
    }
    return r;
}

/* ---- the role of a process ------------------------------------------------------------------- */

static bool is_member(gid_t gid, gid_t own, const gid_t *groups, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (groups[i] == gid)
            return true;
    }
    return gid == own;
}

enum role config_role(const struct config_roles *roles, uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
    enum role most = ROLE_VIEWER;
    bool listed = false;
    gid_t of;

    for (size_t i = 0; i < roles->n_users; i++) {
        if (has_name(uid, roles->users[i].name))
            return roles->users[i].role;
    }
    for (size_t i = 0; i < roles->n_groups; i++) {
        if (!find_group(roles->groups[i].name, &of) || !is_member(of, gid, groups, n))
            continue;
        listed = true;
        if (roles->groups[i].role > most)
            most = roles->groups[i].role;
    }
    return listed ? most : ROLE_ADMIN;
}

/* ---- two people ------------------------------------------------------------------------------ */

const char *config_four_eyes_check(const char *word)
{
    enum four_eyes_action action;

    return four_eyes_action_parse(word, &action) == 0
               ? NULL
               : "approve, place, migrate, maintenance, roll, standby or wake";
}

unsigned config_four_eyes(const struct config *c)
{
    enum four_eyes_action action;
    unsigned ret = 0;

    for (const char *const *w = c->four_eyes.actions; *w; w++) {
        if (four_eyes_action_parse(*w, &action) == 0)
            ret |= 1u << action;
    }
    return ret;
}
