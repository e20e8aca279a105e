/* preflight.h: what `ballast check-config --connect` has looked at, one item each, in the order of output.
 *
 * An item is one sentence about one thing, with a verdict, and what an admin can do about it. Collectors add
 * items about their source (collector.h), src/preflight those about everything else. All strings live in the
 * list's arena.
 */
#ifndef BALLAST_PREFLIGHT_H
#define BALLAST_PREFLIGHT_H

#include <ballast/arena.h>

#include <stddef.h>

enum preflight_verdict {
    PREFLIGHT_OK,
    PREFLIGHT_NOTE,    /* good to know; the service works without it, or it cannot be looked at */
    PREFLIGHT_PROBLEM, /* the service would not do what its configuration says */
    PREFLIGHT_SKIPPED, /* not looked at, because of an earlier problem */
};

enum preflight_area {
    PREFLIGHT_SOURCE,
    PREFLIGHT_CLUSTER,
    PREFLIGHT_PRIVILEGES,
    PREFLIGHT_CONFIGURATION, /* its entries against the cluster */
    PREFLIGHT_CONTROLLERS,
    PREFLIGHT_BROKER,
    PREFLIGHT_ALARMS,
    PREFLIGHT_MACHINE,
    PREFLIGHT_AREA_COUNT,
};

struct preflight_item {
    enum preflight_area area;
    enum preflight_verdict verdict;
    const char *text;
    const char *advice; /* what to do; NULL: nothing */
    const char *key; /* of the configuration, that the item is about ("source.url"); NULL: of no single one */
    const char *choice; /* a value that this key may have at this source; NULL: the item names none */
};

struct preflight {
    struct arena *a;
    struct preflight_item *items;
    size_t n, cap;
};

void preflight_add(struct preflight *p, enum preflight_area area, enum preflight_verdict verdict,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Sets what to do about the item that was added last. */
void preflight_advise(struct preflight *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets what that item is about; choice: NULL, or copied. */
void preflight_about(struct preflight *p, const char *key, const char *choice);

#endif
