/* domain_numa.c: reads which cells of a domain must have their memory in one NUMA node of the host: those
 * that numatune binds strictly to a single node, which a migration keeps. Any other memory may be anywhere,
 * and CPUs are not bound by it. */
#include "net/libvirt/domain_numa.h"

#include "net/xml.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A single number. */
static bool read_number(const char *text, uint32_t most, uint32_t *ret)
{
    char *end;
    unsigned long v = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : ULONG_MAX;

    *ret = (uint32_t)v;
    return v <= most && *end == '\0';
}

/* The node that memory is bound to; NULL: it may be elsewhere. */
static const char *bound_to(const xml_node *memory, struct arena *a)
{
    const char *mode = memory ? xml_attribute(memory, "mode", a) : NULL;
    uint32_t node;
    const char *nodes = memory ? xml_attribute(memory, "nodeset", a) : NULL;

    return nodes && (!mode || strcmp(mode, "strict") == 0) && read_number(nodes, NUMA_COUNT_MAX, &node)
               ? nodes
               : NULL;
}

/* The node of the domain's cell: its own, or that of all memory. */
static const char *node_of(const xml_node *tune, const char *cell, struct arena *a)
{
    for (const xml_node *n = xml_child(tune, "memnode"); n; n = xml_again(n)) {
        const char *id = xml_attribute(n, "cellid", a);
        if (id && cell && strcmp(id, cell) == 0)
            return bound_to(n, a);
    }
    return bound_to(xml_child(tune, "memory"), a);
}

/* Huge pages: of a size, or as the host has them. */
static void set_pages(const xml_node *root, const char *cell, struct arena *a, struct vm_numa_cell *to)
{
    const xml_node *huge = xml_child(root, "memoryBacking/hugepages");

    to->pages = huge ? NUMA_PAGES_LARGE : NUMA_PAGES_BY_SIZE;
    for (const xml_node *p = xml_child(huge, "page"); p; p = xml_again(p)) {
        const char *nodes = xml_attribute(p, "nodeset", a);
        const char *size = xml_attribute(p, "size", a);
        double mb = size ? domain_xml_mb(strtoll(size, NULL, 10), xml_attribute(p, "unit", a)) : UNKNOWN;

        if ((nodes && (!cell || strcmp(nodes, cell) != 0)) || !(mb * KIB_PER_MIB >= 1) ||
            !(mb < NUMA_COUNT_MAX / KIB_PER_MIB))
            continue;
        to->pages = NUMA_PAGES_BY_SIZE;
        to->page_kb = (uint32_t)(mb * KIB_PER_MIB);
    }
}

static void add_cell(const xml_node *root, const char *cell, double mem_mb, struct arena *a,
                     struct domain_xml *ret)
{
    const char *node = node_of(xml_child(root, "numatune"), cell, a);
    struct vm_numa_cell *items = (struct vm_numa_cell *)ret->numa.items;
    struct vm_numa_cell to = {.cell_given = true, .fixed = true};

    if (!node || !(mem_mb > 0) || mem_mb > NUMA_COUNT_MAX || !read_number(node, NUMA_COUNT_MAX, &to.cell) ||
        ret->numa.n >= NUMA_CELLS_MAX)
        return;
    for (uint32_t i = 0; i < ret->numa.n; i++)
        if (items[i].cell == to.cell) { /* two cells of the domain in one of the host count as one */
            items[i].mem_mb = (uint32_t)fmin(ceil(items[i].mem_mb + mem_mb), NUMA_COUNT_MAX);
            return;
        }
    to.mem_mb = (uint32_t)ceil(mem_mb);
    set_pages(root, cell, a, &to);
    items[ret->numa.n++] = to;
}

void domain_numa_read(const xml_node *root, struct arena *a, struct domain_xml *ret)
{
    const xml_node *cell = xml_child(root, "cpu/numa/cell");

    if (!xml_child(root, "numatune"))
        return;
    ret->numa.items = arena_array(a, struct vm_numa_cell, NUMA_CELLS_MAX);
    if (!cell)
        add_cell(root, NULL, ret->mem_mb, a, ret);
    for (; cell; cell = xml_again(cell)) {
        const char *mem = xml_attribute(cell, "memory", a);
        double mem_mb = mem ? domain_xml_mb(strtoll(mem, NULL, 10), xml_attribute(cell, "unit", a)) : UNKNOWN;

        add_cell(root, xml_attribute(cell, "id", a), mem_mb, a, ret);
    }
}
