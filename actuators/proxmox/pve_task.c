/* pve_task.c: reads and writes names of tasks. */
#include "actuators/proxmox/pve_task.h"

#include <stdio.h>
#include <string.h>

#define VMID_DIGITS_MAX 9

bool pve_is_vmid(const char *text)
{
    size_t len = text ? strspn(text, "0123456789") : 0;

    return len > 0 && len <= VMID_DIGITS_MAX && !text[len] && text[0] != '0';
}

/* The text up to the next colon, and *at behind it. */
static bool next_part(const char **at, char *ret, size_t size)
{
    size_t len = strcspn(*at, ":");

    if ((*at)[len] != ':' || len >= size)
        return false;
    memcpy(ret, *at, len);
    ret[len] = '\0';
    *at += len + 1;
    return true;
}

static bool next_hex(const char **at, int64_t *ret)
{
    char text[20];
    size_t len;

    if (!next_part(at, text, sizeof text))
        return false;
    len = strspn(text, "0123456789abcdefABCDEF");
    if (len == 0 || len > 15 || text[len])
        return false;
    *ret = 0;
    for (size_t i = 0; i < len; i++)
        *ret = *ret * 16 + (text[i] <= '9' ? text[i] - '0' : (text[i] | 0x20) - 'a' + 10);
    return true;
}

bool pve_upid_read(const char *text, struct pve_upid *ret)
{
    int64_t ignored;
    char user[TASK_NAME_MAX];

    *ret = (struct pve_upid){0};
    if (strncmp(text, "UPID:", 5) != 0 || strlen(text) >= TASK_NAME_MAX)
        return false;
    text += 5;
    return next_part(&text, ret->node, sizeof ret->node) && pve_is_node_name(ret->node) &&
           next_hex(&text, &ignored) && next_hex(&text, &ignored) && next_hex(&text, &ret->start_s) &&
           next_part(&text, ret->type, sizeof ret->type) && next_part(&text, ret->id, sizeof ret->id) &&
           pve_is_vmid(ret->id) && next_part(&text, user, sizeof user) && user[0] && !text[0];
}

bool pve_ha_name_read(const char *name, struct pve_ha_move *ret)
{
    char kind[4];
    struct pve_upid upid;

    *ret = (struct pve_ha_move){0};
    if (strncmp(name, "HA:", 3) != 0 || strlen(name) >= TASK_NAME_MAX)
        return false;
    name += 3;
    if (!next_part(&name, kind, sizeof kind) || !next_part(&name, ret->id, sizeof ret->id) ||
        !next_part(&name, ret->from, sizeof ret->from) || !next_part(&name, ret->to, sizeof ret->to) ||
        !next_hex(&name, &ret->since_s))
        return false;
    ret->container = strcmp(kind, "ct") == 0;
    (void)snprintf(ret->upid, sizeof ret->upid, "%s", name);
    return (ret->container || strcmp(kind, "vm") == 0) && pve_is_vmid(ret->id) &&
           pve_is_node_name(ret->from) && pve_is_node_name(ret->to) &&
           (!ret->upid[0] || pve_upid_read(ret->upid, &upid));
}

void pve_ha_name_write(const struct pve_ha_move *m, char ret[TASK_NAME_MAX])
{
    int n = snprintf(ret, TASK_NAME_MAX, "HA:%s:%s:%s:%s:%08llX:%s", m->container ? "ct" : "vm", m->id,
                     m->from, m->to, (unsigned long long)m->since_s, m->upid);

    if (n >= TASK_NAME_MAX)
        (void)snprintf(ret, TASK_NAME_MAX, "HA:%s:%s:%s:%s:%08llX:", m->container ? "ct" : "vm", m->id,
                       m->from, m->to, (unsigned long long)m->since_s);
}
