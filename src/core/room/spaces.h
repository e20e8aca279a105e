/* spaces.h: how many more VMs of a given size the hosts have room for: their *spaces*.
 *
 * What a slot has left is a list of figures: CPUs, memory by policy.mem_admission, memory that is physically
 * free; and if the size has NUMA cells, CPUs and memory of each cell of the host. A VM of the size takes its
 * part of each, in the cells equal parts, in a different cell each. The spaces of a slot are how many such
 * VMs it takes at once; a size of 0 CPUs or memory takes none. A VM counts with all its vCPUs, divided by
 * room.cpu_ratio: a space is one that the next request gets, whatever the VMs do at the moment. In a cell
 * its own ratio counts where it has one, and its dedicated CPUs where VMs share none.
 *
 * Slots that receive nothing (not on, closing, put to standby, without their agent VMs) have no spaces. Nor
 * have hosts whose cells are not known, if the size has cells. */
#ifndef BALLAST_CORE_SPACES_H
#define BALLAST_CORE_SPACES_H

#include "core/layout/layout.h"

/* Then, of each cell, SPACE_CELL_FIGURES more. */
enum space_figure { SPACE_CPUS, SPACE_MEM, SPACE_MEM_FREE, SPACE_FIGURES };
enum space_cell_figure { SPACE_CELL_CPUS, SPACE_CELL_MEM, SPACE_CELL_FIGURES };

/* Figures that a slot has at most. */
#define SPACE_FIGURES_MAX (SPACE_FIGURES + SPACE_CELL_FIGURES * NUMA_CELLS_MAX)

struct spaces {
    const struct layout *l;
    const struct room_policy *size;
    double takes[SPACE_FIGURES]; /* of a VM of the size */
    double cell_takes[SPACE_CELL_FIGURES];
    double *cpus;      /* by slot: CPUs that VMs may have, less those of VMs in flight to it */
    double *unit_cpus; /* by unit */
};

/* False: the policy gives no size, and nothing may be asked. */
bool spaces_init(struct spaces *s, const struct layout *l, struct arena *a);

/* The number of figures of the slot; what a VM of the size takes of the figure. */
uint32_t spaces_width(const struct spaces *s, uint32_t slot);

static inline double spaces_takes(const struct spaces *s, uint32_t figure)
{
    return figure < SPACE_FIGURES ? s->takes[figure]
                                  : s->cell_takes[(figure - SPACE_FIGURES) % SPACE_CELL_FIGURES];
}

/* What the slot has left in the layout's present state. */
void spaces_left(const struct spaces *s, uint32_t slot, double *ret);

/* What the unit's slot gets back when the unit leaves. */
void spaces_released(const struct spaces *s, uint32_t unit, double *ret);

/* What the unit would take of the slot; false: it finds no cells there. */
bool spaces_taken(const struct spaces *s, uint32_t unit, uint32_t slot, double *ret);

/* How many VMs of the size fit into what the slot has left. */
uint32_t spaces_count(const struct spaces *s, uint32_t slot, const double *left);

/* What is left beside them, as parts of what one takes. */
double spaces_unused(const struct spaces *s, uint32_t slot, const double *left);

/* Of the slot, and of all slots, in the layout's present state. */
uint32_t spaces_of(const struct spaces *s, uint32_t slot);
uint64_t spaces_of_all(const struct spaces *s);

/* The least that units that take so much cost a slot in spaces, whatever it has left: what leaves one slot
 * has to be found on another. */
uint32_t spaces_covered(const struct spaces *s, uint32_t slot, const double *taken);

/* Whether the slot may have spaces at all. */
bool spaces_receives(const struct spaces *s, uint32_t slot);

/* Spaces that moves for balance may not take: with `kept` spaces or fewer, a move that takes one is refused.
 * The fewest spaces since the guard was set decide, so that in a pass more and more moves are refused, never
 * fewer. */
struct spaces_guard {
    const struct spaces *s;
    uint64_t kept;
    uint64_t now, fewest; /* spaces of all slots */
};

/* Sets the guard to the layout's present state. */
void spaces_guard_begin(struct spaces_guard *g, const struct spaces *s, uint64_t kept);

/* Whether the unit would take a space on the slot that must be kept. */
bool spaces_guard_refuses(const struct spaces_guard *g, uint32_t unit, uint32_t slot);

/* After a move between these slots, which had so many spaces together before it. */
void spaces_guard_follow(struct spaces_guard *g, uint32_t from, uint32_t to, uint32_t before);

#endif
