/* compatibility.c: sorts the names of what hosts offer and of what VMs need. */
#include "model/compatibility.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, as labels are. Most sources give sorted lists: those are not copied. */
static int sort_names(const struct place *at, const char *field, struct ids *names, struct arena *a)
{
    uint32_t i = 1;

    while (i < names->n && strcmp(names->items[i - 1], names->items[i]) < 0)
        i++;
    if (i >= names->n)
        return 0;
    const char **items = arena_array(a, const char *, names->n);

    memcpy(items, names->items, names->n * sizeof *items);
    qsort(items, names->n, sizeof *items, by_name);
    for (i = 1; i < names->n; i++)
        if (strcmp(items[i - 1], items[i]) == 0)
            return inventory_check_refuse(at, field, "\"%s\" is listed twice, expected once", items[i]);
    names->items = items;
    return 0;
}

int compatibility_sort_host(const struct place *at, struct host_facts *h, struct arena *a)
{
    int r;

    if ((r = sort_names(at, "networks", &h->networks.names, a)) < 0 ||
        (r = sort_names(at, "datastores", &h->datastores.names, a)) < 0 ||
        (r = sort_names(at, "devices", &h->devices.names, a)) < 0)
        return r;
    return sort_names(at, "cpu_modes", &h->cpu_modes.names, a);
}

int compatibility_sort_vm(const struct place *at, struct vm_facts *v, struct arena *a)
{
    int r;

    if ((r = sort_names(at, "networks", &v->networks, a)) < 0 ||
        (r = sort_names(at, "datastores", &v->datastores, a)) < 0)
        return r;
    return sort_names(at, "devices", &v->devices, a);
}
