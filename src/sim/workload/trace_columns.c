/* trace_columns.c: units and ranges of figures in columns and in answers of Prometheus; texts instead of
 * files. The parsers are trace_table.c and trace_prometheus.c. */
#include "sim/workload/trace_rows.h"

#include "base/name_define.h"

#include <math.h>
#include <string.h>

#define SIZE_MOST 1e9
#define COUNTER_MOST 1e12 /* seconds of CPU: 300 cores for a century */
#define VCPUS_MOST 4096

NAME_DEFINE(trace_unit, TRACE_UNITS)

const char *const trace_part_words[TRACE_PARTS] = {"cpu", "mem", "vcpus", "mem_size"};

bool trace_unit_fits(enum trace_unit unit, enum trace_part part)
{
    switch (unit) {
    case TRACE_UNIT_NONE:
        return part == TRACE_VCPUS;
    case TRACE_MHZ:
    case TRACE_CORES:
    case TRACE_SECONDS:
        return part == TRACE_CPU;
    case TRACE_PERCENT:
        return part == TRACE_CPU || part == TRACE_MEM;
    case TRACE_BYTES:
    case TRACE_KIB:
    case TRACE_MIB:
    case TRACE_GIB:
        return part == TRACE_MEM || part == TRACE_MEM_SIZE;
    case trace_unit_count:
        break;
    }
    return false;
}

/* MiB of one of the unit; 1 for what is no memory. */
static double factor_of(enum trace_unit unit)
{
    return unit == TRACE_BYTES ? 1 / KIB_PER_MIB / 1024
           : unit == TRACE_KIB ? 1 / KIB_PER_MIB
           : unit == TRACE_GIB ? 1024
                               : 1;
}

const char *trace_columns_range(enum trace_part part, enum trace_unit unit)
{
    if (part == TRACE_VCPUS)
        return "from 1 to 4096";
    if (part == TRACE_CPU)
        return unit == TRACE_SECONDS ? "from 0 to 1e12 s" : "from 0 to 1e9";
    return unit == TRACE_PERCENT ? "from 0 to 1e9" : "from 0 to 1e9 MiB";
}

bool trace_row_set(struct trace_row *row, enum trace_part part, enum trace_unit unit, double value)
{
    double v = value * factor_of(unit);
    double most = part == TRACE_VCPUS ? VCPUS_MOST : unit == TRACE_SECONDS ? COUNTER_MOST : SIZE_MOST;

    if (!(v >= 0 && v <= most) || (part == TRACE_VCPUS && v < 1))
        return false;
    switch (part) {
    case TRACE_CPU:
        row->value[RES_CPU] = v;
        break;
    case TRACE_MEM:
        row->value[RES_MEM] = v;
        break;
    case TRACE_VCPUS:
        row->vcpus = (uint32_t)v;
        break;
    case TRACE_MEM_SIZE:
        row->mem_mb = v;
        break;
    case TRACE_PARTS:
        break;
    }
    return true;
}

const struct trace_text *trace_texts_find(const struct trace_texts *texts, const char *path)
{
    for (size_t i = 0; texts && i < texts->n; i++) {
        if (strcmp(texts->items[i].path, path) == 0)
            return &texts->items[i];
    }
    return NULL;
}

void trace_texts_add(struct trace_texts *texts, const char *path, const char *text, size_t len)
{
    texts->items = arena_grow(texts->a, texts->items, texts->n, &texts->cap, sizeof *texts->items);
    texts->items[texts->n++] = (struct trace_text){path, text, len};
}
