/* inventory_check.h: what can be wrong with one object by itself. Used by snapshot_build.c. */
#ifndef BALLAST_MODEL_INVENTORY_CHECK_H
#define BALLAST_MODEL_INVENTORY_CHECK_H

#include <ballast/err.h>
#include <ballast/inventory.h>

#define NO_IX SIZE_MAX

/* More than a thousand petahertz or an exabyte in one object is a mistake of unit. */
#define SIZE_ABSURD 1e12

/* Where an error points: "/vms/3" and a field of that VM. */
struct place {
    const char *kind; /* "vms" */
    size_t ix;        /* in the inventory's order; NO_IX: the kind is one object, not a list */
    struct err *err;
};

/* Sets err to "/KIND/IX/FIELD: ..." and returns -EINVAL. field may be "". */
int inventory_check_refuse(const struct place *at, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Of 1 to FACT_NAME_BYTES_MAX bytes. NULL: not. */
bool inventory_check_is_name(const char *text);

/* A copy of entries that begin with their names, in the order of these. Refused: a name twice. */
int inventory_check_sort(const struct place *at, const char *field, const void *items, uint32_t n,
                         size_t size, struct arena *a, const void **ret);

/* Checks the fields of one object by themselves and together. snapshot_build.c checks references. */
int inventory_check_setting(const struct seen_setting *h, size_t ix, struct err *err);
int inventory_check_migration_rate(const struct seen_migration_rate *m, size_t ix, struct err *err);
int inventory_check_quiet(const struct quiet *q, size_t ix, struct err *err);
int inventory_check_expected(const struct expected *x, size_t ix, struct err *err);
int inventory_check_ha(const char *kind, const double percent[RES_COUNT], struct err *err);

/* What is wrong with a stage of a pipeline. */
struct stage_mistake {
    uint32_t stage;
    const char *field; /* "": the whole stage */
    const char *why;   /* with what was expected */
};

/* -EINVAL and the first mistake. */
int inventory_check_stages(const struct seen_pipeline *p, struct stage_mistake *ret);

/* groups[] and pipelines[]. */
int inventory_check_placement(const struct inventory *inv, struct err *err);

/* Checks each object by itself, then the cluster's own fields; returns the first error in that order. */
int inventory_check_all(const struct inventory *inv, struct err *err);

#endif
