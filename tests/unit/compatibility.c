/* What hosts offer and what VMs need, by name. */
#include "unit.h"

#include "model/snapshot_build.h"

#include <errno.h>
#include <string.h>

/* A list of ten thousand names is right, one beyond any hypervisor's bound is not; neither is a name without
 * end. */
static void test_bounds_of_names(void **state)
{
    static const struct {
        uint32_t n;
        size_t bytes;
        const char *wrong;
    } bounds[] = {{FACT_NAMES_MAX, 8, NULL},
                  {FACT_NAMES_MAX + 1, 8, "/hosts/0/networks: 16385 entries, expected at most 16384"},
                  {1, FACT_NAME_BYTES_MAX, NULL},
                  {1, FACT_NAME_BYTES_MAX + 1, "/hosts/0/networks/0: too long, expected a name of at most"}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(bounds); i++) {
        struct arena a = {0};
        struct inventory inv = {.cluster = "c", .time = 1};
        struct snapshot s;
        struct err err = {0};
        struct seen_host *h = inventory_add_host(&inv, &a);
        const char **names = arena_array(&a, const char *, bounds[i].n);

        for (uint32_t k = 0; k < bounds[i].n; k++)
            names[k] = arena_printf(&a, "%0*u", (int)bounds[i].bytes, bounds[i].n - k);
        h->is.id = "h1";
        h->is.total[RES_CPU] = h->is.total[RES_MEM] = 1000;
        h->is.cores = 1;
        h->is.networks = (struct offer){{names, bounds[i].n}, true};
        int r = snapshot_build(&inv, &a, &s, &err);

        assert_int_equal(r, bounds[i].wrong ? -EINVAL : 0);
        if (bounds[i].wrong && strncmp(err.text, bounds[i].wrong, strlen(bounds[i].wrong)) != 0)
            fail_msg("%s, expected %s", err.text, bounds[i].wrong);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_of_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
