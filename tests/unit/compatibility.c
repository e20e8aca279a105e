/* What hosts offer and what VMs need, by name. */
#include "unit.h"

#include "base/rng.h"
#include "model/compatibility.h"
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

/* ---- compiled ---- */

static const char *const names[] = {"a", "b", "c", "d", "e"};

static struct ids random_names(struct rng *r, struct arena *a, double part)
{
    const char **items = arena_array(a, const char *, ELEMENTS(names));
    uint32_t n = 0;

    for (size_t i = ELEMENTS(names); i-- > 0;) /* not sorted */
        if (rng_unit(r) < part)
            items[n++] = names[i];
    return (struct ids){items, n};
}

static const char *random_name(struct rng *r)
{
    return rng_unit(r) < 0.5 ? names[rng_below(r, ELEMENTS(names))] : NULL;
}

static struct offer random_offer(struct rng *r, struct arena *a)
{
    struct ids some = random_names(r, a, 0.9);

    return rng_unit(r) < 0.8 ? (struct offer){some, true} : (struct offer){0};
}

static void random_inventory(struct rng *r, struct arena *a, struct inventory *inv)
{
    for (uint32_t i = 0, n = 1 + rng_below(r, 140); i < n; i++) { /* bitmaps of up to three words */
        struct host_facts *h = &inventory_add_host(inv, a)->is;
        h->id = arena_printf(a, "h%03u", i);
        h->total[RES_CPU] = h->total[RES_MEM] = 1000;
        h->cores = 1;
        h->networks = random_offer(r, a);
        h->datastores = random_offer(r, a);
        h->devices = random_offer(r, a);
        h->cpu_modes = random_offer(r, a);
        h->cpu_vendor = random_name(r);
    }
    for (uint32_t i = 0, n = rng_below(r, 200); i < n; i++) {
        struct seen_vm *v = inventory_add_vm(inv, a);
        v->is.vcpus = 1;
        v->is.mem_mb = 1;
        vm_facts_default(&v->is);
        v->is.id = arena_printf(a, "v%03u", i);
        v->is.state = VM_OFF;
        v->is.networks = random_names(r, a, 0.2);
        v->is.datastores = random_names(r, a, 0.1);
        v->is.devices = random_names(r, a, 0.1);
        v->is.cpu_vendor = rng_unit(r) < 0.2 ? random_name(r) : NULL;
        v->is.cpu_mode = rng_unit(r) < 0.2 ? random_name(r) : NULL;
    }
}

static bool equal_names(const struct ids *x, const struct ids *y)
{
    for (uint32_t i = 0; i < x->n && x->n == y->n; i++)
        if (strcmp(x->items[i], y->items[i]) != 0)
            return false;
    return x->n == y->n;
}

static bool equal_text(const char *x, const char *y)
{
    return x == y || (x && y && strcmp(x, y) == 0);
}

static bool need_the_same(const struct vm_facts *x, const struct vm_facts *y)
{
    return equal_names(&x->networks, &y->networks) && equal_names(&x->datastores, &y->datastores) &&
           equal_names(&x->devices, &y->devices) && equal_text(x->cpu_vendor, y->cpu_vendor) &&
           equal_text(x->cpu_mode, y->cpu_mode);
}

static bool holds_name(const struct ids *of, const char *name)
{
    for (uint32_t i = 0; i < of->n; i++)
        if (strcmp(of->items[i], name) == 0)
            return true;
    return false;
}

/* Names that an offer lacks, one by one. */
static uint32_t lacking(const struct offer *offer, const struct ids *needs)
{
    uint32_t n = 0;

    for (uint32_t i = 0; offer->known && i < needs->n; i++)
        n += !holds_name(&offer->names, needs->items[i]);
    return n;
}

static uint32_t lacking_in_all(const struct host_facts *h, const struct vm_facts *v)
{
    const struct offer vendor = {{&h->cpu_vendor, h->cpu_vendor != NULL}, h->cpu_vendor != NULL};
    const struct ids vendor_needed = {&v->cpu_vendor, v->cpu_vendor != NULL};
    const struct ids mode = {&v->cpu_mode, v->cpu_mode != NULL};

    return lacking(&h->networks, &v->networks) + lacking(&h->datastores, &v->datastores) +
           lacking(&h->devices, &v->devices) + lacking(&vendor, &vendor_needed) +
           lacking(&h->cpu_modes, &mode);
}

/* The bitmaps say what a comparison of every VM with every host says, VMs that need the same share one, and
 * the names that are missing are as many as that comparison finds. */
static void test_compiled(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng r = {.state = seed};
        struct arena a = {0};
        struct inventory inv = {.cluster = "c", .time = 1};
        struct snapshot s;
        struct err err = {0};

        random_inventory(&r, &a, &inv);
        assert_int_equal(snapshot_build(&inv, &a, &s, &err), 0);
        for (uint32_t i = 0; i < s.n_vms; i++) {
            for (uint32_t h = 0; h < s.n_hosts; h++) {
                struct missing first;
                uint32_t n = lacking_in_all(&s.hosts[h].is, &s.vms[i].is);

                if (vm_is_offered(&s.vms[i], h) != (n == 0) ||
                    compatibility_missing(&s.vms[i].is, &s.hosts[h].is, &first, 1) != n)
                    fail_msg("seed %llu: %s lacks %u names for %s", (unsigned long long)seed,
                             s.hosts[h].is.id, n, s.vms[i].is.id);
            }
            for (uint32_t k = 0; k < i; k++)
                if (need_the_same(&s.vms[i].is, &s.vms[k].is))
                    assert_ptr_equal(s.vms[i].offered, s.vms[k].offered);
        }
        arena_release(&a);
    }
}

static void test_missing_names(void **state)
{
    static const char *const has[] = {"a", "c"};
    static const char *const needs[] = {"a", "b", "d"};
    static const char *const device[] = {"gpu"};
    const struct host_facts h = {.networks = {{has, 2}, true}, .cpu_modes = {{0}, true}, .cpu_vendor = "amd"};
    const struct vm_facts v = {.networks = {needs, 3},
                               .datastores = {needs, 1},
                               .devices = {device, 1},
                               .cpu_vendor = "intel",
                               .cpu_mode = "intel-skylake"};
    struct missing missing[8];

    (void)state;
    assert_int_equal(compatibility_missing(&v, &h, missing, 8), 4);
    assert_true(missing[0].kind == OFFER_NETWORK && strcmp(missing[0].name, "b") == 0);
    assert_true(missing[1].kind == OFFER_NETWORK && strcmp(missing[1].name, "d") == 0);
    assert_true(missing[2].kind == OFFER_CPU_VENDOR && strcmp(missing[2].name, "intel") == 0);
    assert_true(missing[3].kind == OFFER_CPU_MODE && strcmp(missing[3].name, "intel-skylake") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_of_names),
        cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_missing_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
