/* cells.h: NUMA cells and devices of hosts, and what VMs take of them.
 *
 * What is taken of a host is a row of figures: of each cell its shared CPUs, its dedicated CPUs, its memory
 * (MiB) and its pages of each size, then of each device pool its devices; what is used elsewhere included. A
 * VM takes as much in one cell of the host for each of its own, and devices. Cells are chosen as Nova does:
 * the ones that have most left come first, in the first arrangement in which all fit. Devices are served
 * request by request, each from the first pools that it may use; there is no search among requests, for no
 * hypervisor makes one. */
#ifndef BALLAST_CORE_FIT_CELLS_H
#define BALLAST_CORE_FIT_CELLS_H

#include <ballast/snapshot.h>

/* Figures of a row, at most. */
#define CELLS_ROW_MAX (NUMA_CELLS_MAX * (3 + NUMA_PAGES_MAX) + DEVICE_POOLS_MAX)

/* Of a pool and a request: it has the properties of an alternative; all that must be asked for is. */
enum { CELLS_MATCHES = 1, CELLS_OPEN = 2 };

/* Nothing is set without a VM that has cells or needs devices. */
struct fit_cells {
    const struct snapshot *snap;
    uint32_t *row_from;               /* by host: where its row begins among all; [n_hosts]: their length */
    uint8_t *pages;                   /* by host: the most sizes of pages that a cell of it has */
    uint32_t *pool_from, *kind_of;    /* by host: the kinds of its pools, kind_of[pool_from[host] + pool] */
    uint32_t *request_from, *spec_of; /* by VM: the specs of its requests */
    uint8_t *match;                   /* spec × n_kinds + kind: whether such a pool may serve it */
    uint32_t n_kinds;
};

enum cells_figure { CELLS_CPUS, CELLS_DEDICATED, CELLS_MEM, CELLS_PAGES };

/* Why a VM does not fit. */
enum cells_lack { LACK_CELLS, LACK_TOGETHER, LACK_FIGURE, LACK_PAGES, LACK_DEVICES };

struct cells_shortage {
    enum cells_lack
        lack; /* too few cells; each has a cell, but not all at once; one does not; pages; devices */
    enum cells_figure figure;     /* LACK_FIGURE */
    uint32_t cell;                /* of the host, by id; LACK_CELLS: how many it has */
    int64_t takes, used, at_most; /* of the cell; LACK_DEVICES: of all pools that may serve the request */
};

void fit_cells_compile(const struct snapshot *snap, struct arena *a, struct fit_cells *ret);

static inline bool fit_cells_binds(const struct fit_cells *c, uint32_t vm)
{
    return c->row_from && (c->snap->vms[vm].is.numa.n > 0 || c->snap->vms[vm].is.device_requests.n > 0);
}

static inline uint32_t fit_cells_width(const struct fit_cells *c, uint32_t host)
{
    return c->row_from[host + 1] - c->row_from[host];
}

/* The figures that the VM takes of any host, at most. */
uint32_t fit_cells_takes_max(const struct fit_cells *c, uint32_t vm);

/* What is taken of the host when none of the snapshot's VMs is there. */
void fit_cells_begin(const struct fit_cells *c, uint32_t host, int64_t *row);

/* Adds what the VM takes; CHECK_FIT_NUMA or CHECK_FIT_DEVICE if it does not fit, and the row is as it was.
 * ret: why; may be NULL. */
enum check fit_cells_take(const struct fit_cells *c, uint32_t vm, uint32_t host, int64_t *row,
                          struct cells_shortage *ret);

/* Adds what the VM takes where it says that it is; false: it does not say so of all, and the row is as it
 * was. */
bool fit_cells_take_known(const struct fit_cells *c, uint32_t vm, uint32_t host, int64_t *row);

/* Adds what the VM takes of a host that it is on though it does not fit: by the numbers of its cells, and of
 * the first pools. */
void fit_cells_take_anyway(const struct fit_cells *c, uint32_t vm, uint32_t host, int64_t *row);

#endif
