/* check.h: what can be wrong with one object by itself. Used by snapshot_build.c. */
#ifndef BALLAST_MODEL_CHECK_H
#define BALLAST_MODEL_CHECK_H

#include <ballast/err.h>
#include <ballast/inventory.h>

#define NO_IX SIZE_MAX

/* A thousand petahertz or an exabyte of memory in one object is a mistake of unit, not a machine. */
#define SIZE_ABSURD 1e12

/* Where a complaint points: "/vms/3" and a field of it. */
struct place {
    const char *kind; /* "vms" */
    size_t ix;        /* in the inventory's order; NO_IX: the kind is one object, not a list */
    struct err *err;
};

/* Sets err to "/KIND/IX/FIELD: ..." and returns -EINVAL. field may be "". */
int check_refuse(const struct place *at, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sizes, words and what belongs together within one object. References are left to snapshot_build.c. */
int check_host(const struct seen_host *h, size_t ix, struct err *err);
int check_vm(const struct seen_vm *v, size_t ix, struct err *err);
int check_pool(const struct seen_pool *p, size_t ix, struct err *err);
int check_rule(const struct seen_rule *r, size_t ix, struct err *err);
int check_setting(const struct seen_setting *h, size_t ix, struct err *err);
int check_migration_rate(const struct seen_migration_rate *m, size_t ix, struct err *err);
int check_expected(const struct expected *x, size_t ix, struct err *err);
int check_ha(const struct ha_facts *ha, struct err *err);

/* Each object by itself, and what holds for the cluster as a whole; the first error in that order. */
int check_inventory(const struct inventory *inv, struct err *err);

#endif
