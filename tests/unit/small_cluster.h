/* small_cluster.h: clusters of a few lines, for the unit tests of core.
 *
 *     struct small s;
 *     small_init(&s);
 *     small_host(&s, "h1", 10000, 16384);
 *     small_vm(&s, "v1", "h1", 2000, 1024);
 *     small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v2", "");
 *     assert_string_equal(small_moves(&s), "v1>h2");
 *     small_release(&s);
 */
#ifndef BALLAST_TESTS_SMALL_CLUSTER_H
#define BALLAST_TESTS_SMALL_CLUSTER_H

#include <ballast/arena.h>
#include <ballast/inventory.h>
#include <ballast/plan.h>

struct small {
    struct arena a;
    struct inventory inv;
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    bool own_windows; /* the test has set its VMs' windows itself */
};

/* No hosts yet. The default settings, but no cost-benefit and no minimum goodness: a test that is about them
 * sets them. */
void small_init(struct small *s);
void small_release(struct small *s);

/* What is returned may be changed until the next one is added. A host has one core; a VM has one vCPU, uses
 * all the memory it was given, and is on. */
struct seen_host *small_host(struct small *s, const char *id, double cpu_mhz, double mem_mb);
struct seen_vm *small_vm(struct small *s, const char *id, const char *host, double cpu_mhz, double mem_mb);
struct seen_pool *small_pool(struct small *s, const char *id, const char *parent);

/* Ids with spaces between them. */
struct ids small_ids(struct small *s, const char *ids);
void small_rule(struct small *s, enum rule_kind kind, bool mandatory, const char *vms, const char *hosts);
void small_migration(struct small *s, const char *vm, const char *from, const char *to);
void small_pending(struct small *s, const char *vm, const char *from, const char *to);

void small_build(struct small *s);

/* Freezes and plans. The moves as "v1>h2 v2>h1", the faults as "rule_violated:v1 overcommitted:-". */
const char *small_moves(struct small *s);
const char *small_faults(const struct small *s, struct arena *a);

/* Indices. */
uint32_t small_vm_ix(const struct small *s, const char *id);
uint32_t small_host_ix(const struct small *s, const char *id);

#endif
