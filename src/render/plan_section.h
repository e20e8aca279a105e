/* plan_section.h: the sections of a plan's text.
 *
 * Each begins with an empty line, except the heading and the section below it. An empty section is left out.
 */
#ifndef BALLAST_RENDER_PLAN_SECTION_H
#define BALLAST_RENDER_PLAN_SECTION_H

#include "base/strbuf.h"

#include <ballast/arena.h>
#include <ballast/plan.h>

/* One line: the cluster, the time, how much of it runs. */
void plan_section_heading(const struct plan *plan, struct arena *a, struct strbuf *out);

/* The imbalance, and the extremes of the load, before and after. */
void plan_section_balance(const struct plan *plan, struct arena *a, struct strbuf *out);

/* The lower bound of the imbalance, with policy.bound. */
void plan_section_bound(const struct plan *plan, struct arena *a, struct strbuf *out);

/* The room for VMs of the size of policy.room, before and after. */
void plan_section_room(const struct plan *plan, struct arena *a, struct strbuf *out);

void plan_section_recommendations(const struct plan *plan, struct arena *a, struct strbuf *out);

/* The other hosts that would do, of each recommendation that names some. */
void plan_section_alternatives(const struct plan *plan, struct arena *a, struct strbuf *out);

void plan_section_faults(const struct plan *plan, struct arena *a, struct strbuf *out);

/* "1 VM", "2 VMs". */
const char *render_count(struct arena *a, uint32_t n, const char *what);

/* Per-host settings of pools: a screenful. */
void plan_section_settings(const struct plan *plan, struct arena *a, struct strbuf *out);

/* The controls of VMs on hosts without pools: a screenful. */
void plan_section_vm_settings(const struct plan *plan, struct arena *a, struct strbuf *out);

#endif
