/* leftover_list.c: keeps what may be left over on which host while VMs go on. It asks no host. */
#include "actuators/libvirt/leftover_list.h"

#include "base/fingerprint.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

void leftover_list_release(struct leftover_list *l)
{
    free(l->items);
    *l = (struct leftover_list){0};
}

bool leftover_list_is_same(const struct task_name *x, const struct task_name *y)
{
    return x->start == y->start && strcmp(x->vm, y->vm) == 0 && strcmp(x->from, y->from) == 0 &&
           strcmp(x->to, y->to) == 0;
}

static struct leftover *find(struct leftover_list *l, const struct task_name *t)
{
    for (size_t i = 0; i < l->n; i++) {
        if (leftover_list_is_same(&l->items[i].task, t))
            return &l->items[i];
    }
    return NULL;
}

void leftover_list_add(struct leftover_list *l, const struct task_name *t)
{
    struct leftover *is = find(l, t);

    if (is) {
        is->task.arrived |= t->arrived;
        is->task.autostart |= t->autostart;
        return;
    }
    l->items = xreallocarray(l->items, l->n + 1, sizeof *l->items);
    l->items[l->n++] = (struct leftover){.task = *t, .number = ++l->last_number, .said = FINGERPRINT_NONE};
}

static void remove_at(struct leftover_list *l, size_t i)
{
    memmove(&l->items[i], &l->items[i + 1], (--l->n - i) * sizeof *l->items);
}

/* What `host` may have of the VM, which is at `home`. */
static void add_moved(struct leftover_list *l, const struct task_name *of, const char *host, const char *home)
{
    struct task_name t = *of;

    if (strcmp(host, home) == 0)
        return;
    t.start = false;
    t.arrived = true;
    memset(t.from, 0, sizeof t.from);
    memset(t.to, 0, sizeof t.to);
    memcpy(t.from, host, strnlen(host, sizeof t.from - 1));
    memcpy(t.to, home, strnlen(home, sizeof t.to - 1));
    leftover_list_add(l, &t);
}

void leftover_list_moved(struct leftover_list *l, const char *vm, const char *host)
{
    const size_t n = l->n;
    struct task_name *old = xcalloc(n + 1, sizeof *old);
    size_t n_old = 0;

    for (size_t i = l->n; i-- > 0;) {
        if (strcmp(l->items[i].task.vm, vm) != 0)
            continue;
        if (strcmp(l->items[i].task.to, host) == 0) {
            l->items[i].task.arrived = true;
            continue;
        }
        old[n_old++] = l->items[i].task;
        remove_at(l, i);
    }
    while (n_old-- > 0) {
        add_moved(l, &old[n_old], old[n_old].from, host);
        add_moved(l, &old[n_old], old[n_old].to, host);
    }
    free(old);
}

struct leftover *leftover_list_next(struct leftover_list *l, const char *from, const char *to, uint64_t after)
{
    for (size_t i = 0; i < l->n; i++) {
        struct leftover *is = &l->items[i];

        if (is->number > after && strcmp(is->task.from, from) == 0 && strcmp(is->task.to, to) == 0)
            return is;
    }
    return NULL;
}

void leftover_list_drop(struct leftover_list *l, const struct task_name *t)
{
    struct leftover *is = find(l, t);

    if (is)
        remove_at(l, (size_t)(is - l->items));
}
