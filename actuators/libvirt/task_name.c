/* task_name.c: writes and reads the names of tasks. */
#include "actuators/libvirt/task_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char migrate_word[] = "migrate", start_word[] = "start";

static bool is_uuid(const char *s)
{
    return s && strlen(s) == VM_UUID_BYTES - 1 && strspn(s, "0123456789abcdefABCDEF-") == VM_UUID_BYTES - 1;
}

static bool is_host(const char *s)
{
    return s && s[0] && !strchr(s, '/') && strlen(s) < TASK_NAME_MAX;
}

int task_name_write(const struct task_name *t, char ret[TASK_NAME_MAX], struct err *err)
{
    char text[TASK_NAME_MAX];

    if (!is_uuid(t->vm))
        return err_set(err, -EINVAL, "\"%.60s\" is not the UUID of a VM", t->vm);
    if (!is_host(t->from) || !is_host(t->to))
        return err_set(err, -EINVAL, "a host has no name, or one with a slash, which tasks cannot have");
    int n = snprintf(text, sizeof text, "%s/%s%s%s%s%s-/%s/%s/%s", t->start ? start_word : migrate_word,
                     t->off ? "o" : "", t->persistent ? "p" : "", t->post_copy ? "c" : "",
                     t->autostart ? "a" : "", t->arrived ? "d" : "", t->vm, t->from, t->to);
    if (n < 0 || (size_t)n >= sizeof text)
        return err_set(err, -EINVAL, "the names of the hosts %.60s... and %.60s... are too long", t->from,
                       t->to);
    memcpy(ret, text, sizeof text);
    return 0;
}

int task_name_read(const char *text, struct task_name *ret, struct err *err)
{
    char copy[TASK_NAME_MAX];
    char *rest = copy;
    char *parts[5] = {0};
    struct task_name t = {0};

    if (text && strlen(text) < sizeof copy) {
        memcpy(copy, text, strlen(text) + 1);
        for (size_t i = 0; i < 5; i++)
            parts[i] = strsep(&rest, "/");
    }
    bool known = parts[0] && (strcmp(parts[0], migrate_word) == 0 || strcmp(parts[0], start_word) == 0);
    size_t flags = known && parts[1] ? strlen(parts[1]) : 0;

    if (flags == 0 || parts[1][flags - 1] != '-' || strspn(parts[1], "opcad") != flags - 1 ||
        !is_uuid(parts[2]) || !is_host(parts[3]) || !is_host(parts[4]) || rest)
        return err_set(err, -EINVAL, "\"%.100s\" is not the name of a task of KVM hosts", text ? text : "");
    t.start = strcmp(parts[0], start_word) == 0;
    t.off = strchr(parts[1], 'o') != NULL;
    t.persistent = strchr(parts[1], 'p') != NULL;
    t.post_copy = strchr(parts[1], 'c') != NULL;
    t.autostart = strchr(parts[1], 'a') != NULL;
    t.arrived = strchr(parts[1], 'd') != NULL;
    memcpy(t.vm, parts[2], VM_UUID_BYTES);
    (void)snprintf(t.from, sizeof t.from, "%s", parts[3]);
    (void)snprintf(t.to, sizeof t.to, "%s", parts[4]);
    *ret = t;
    return 0;
}
