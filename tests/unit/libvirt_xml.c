/* Descriptions of domains, hosts and storage pools from libvirt, recorded and made; statistics as samples. */
#include "unit.h"

#include "base/cleanup.h"
#include "collectors/libvirt/cpu_traits.h"
#include "collectors/libvirt/host_look.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char *read_reply(struct arena *a, const char *name)
{
    char path[256];
    char *text = arena_alloc(a, 1, 65536);

    (void)snprintf(path, sizeof path, "../replies/libvirt/%s", name);
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("%s cannot be opened", path);
    text[fread(text, 1, 65535, f)] = '\0';
    return text;
}

static struct domain_xml domain(struct arena *a, const char *text)
{
    struct domain_xml d;
    struct err err = {0};

    if (domain_xml_read(text, a, &d, &err) < 0)
        fail_msg("%s", err.text);
    return d;
}

static void a_recorded_domain_is_read(void **state)
{
    (void)state;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct domain_xml d = domain(&a, read_reply(&a, "domain-tcg-9.0.xml"));

    assert_string_equal(d.name, "t1");
    assert_string_equal(d.uuid, "deadbeef-0000-4000-8000-000000000001");
    assert_string_equal(d.type, "qemu");
    assert_string_equal(d.arch, "x86_64");
    assert_string_equal(d.machine, "pc-i440fx-7.2");
    assert_int_equal(d.vcpus, 1);
    assert_within(d.mem_mb, 16, 0);
    assert_int_equal(d.cpu, DOMAIN_CPU_MODEL);
    assert_string_equal(d.cpu_model, "qemu64");
    assert_int_equal(d.networks.n, 1);
    assert_string_equal(d.networks.items[0], "vmbr0");
    assert_int_equal(d.n_disks, 0);
    assert_null(d.immovable);
    assert_null(d.mandatory_only);
    assert_true(isinf(d.vcpu_quota) && isinf(d.global_quota) && isinf(d.hard_limit_mb));
    assert_within(d.shares, 0, 0);
}

static void controls_disks_networks_and_labels_are_read(void **state)
{
    (void)state;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct domain_xml d = domain(&a, read_reply(&a, "domain-kvm.xml"));

    assert_int_equal(d.vcpus, 4); /* of 8, the present ones */
    assert_within(d.mem_mb, 8192, 0);
    assert_within(d.hard_limit_mb, 6144, 0);
    assert_within(d.min_guarantee_mb, 2048, 0);
    assert_within(d.shares, 2048, 0);
    assert_within(d.vcpu_quota, 0.5, 1e-9);
    assert_true(isinf(d.global_quota));
    assert_int_equal(d.networks.n, 3);
    assert_string_equal(d.networks.items[1], "storage");
    assert_string_equal(d.networks.items[2], "eth1");
    assert_int_equal(d.n_disks, 2); /* neither the empty drive nor what comes over the network */
    assert_string_equal(d.disks[0].path, "/mnt/nfs/images/db1.qcow2");
    assert_string_equal(d.disks[1].pool, "ceph");
    assert_string_equal(d.immovable, "a device of its host passed through");
    assert_string_equal(d.mandatory_only, "virtual CPUs pinned to those of its host");
    assert_int_equal(d.labels.n, 3);
    assert_string_equal(d.labels.items[0].value, "Customer database");
    assert_string_equal(d.labels.items[1].key, "instance.role");
    assert_string_equal(d.labels.items[2].value, "gold");
    /* features by name, so that equal CPUs have equal texts */
    assert_string_equal(
        d.cpu_xml, "<cpu mode='custom' match='exact'><model fallback='forbid'>Skylake-Server-IBRS</model>"
                   "<feature policy='disable' name='hle'/><feature policy='require' name='hypervisor'/>"
                   "<feature policy='require' name='vmx'/></cpu>");
}

static const struct {
    const char *devices, *immovable;
} bound[] = {
    {"<filesystem type='mount'/>", "a folder shared with its host"},
    {"<shmem name='x'/>", "memory shared with other VMs of its host"},
    {"<tpm><backend type='passthrough'/></tpm>", "the TPM of its host"},
    {"<tpm><backend type='emulator'/></tpm>", NULL},
    {"<serial type='dev'/>", "a port of its host"},
    {"<serial type='pty'/>", NULL},
    {"<interface type='hostdev'/>", "a network card passed through"},
    {"<interface type='hostdev'><teaming type='transient' persistent='a'/></interface>", NULL},
    {"<disk type='nvme' device='disk'><source type='pci'/></disk>", "a disk that is a device of its host"},
};

/* What Ballast has set, and what was there before. */
static void own_controls_are_kept_in_the_metadata(void **state)
{
    (void)state;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct domain_xml d = domain(
        &a,
        "<domain><metadata><b:own-controls xmlns:b='urn:ballast:controls' shares='200' vcpu_quota='25000'/>"
        "</metadata><cputune><shares>700</shares><global_quota>60000</global_quota></cputune></domain>");

    assert_true(d.set);
    assert_within(d.shares, 700, 0);
    assert_within(d.global_quota, 0.6, 1e-9);
    assert_within(d.own_shares, 200, 0);
    assert_within(d.own_vcpu_quota, 0.25, 1e-9);
    assert_true(isinf(d.own_global_quota) && isinf(d.vcpu_quota));
    assert_int_equal(d.labels.n, 0);
    d = domain(&a, "<domain><metadata><own-controls xmlns='urn:another' shares='200'/></metadata></domain>");
    assert_false(d.set);
    d = domain(
        &a,
        "<domain><metadata><own-controls xmlns='urn:ballast:controls' shares='x' vcpu_quota='-5'/></metadata>"
        "</domain>");
    assert_true(d.set && d.own_shares == 0 && isinf(d.own_vcpu_quota));
}

static void what_binds_a_domain_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(bound); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        const char *text = arena_printf(&a, "<domain><devices>%s</devices></domain>", bound[i].devices);
        const char *why = domain(&a, text).immovable;

        if (why ? !bound[i].immovable || strcmp(why, bound[i].immovable) != 0 : bound[i].immovable != NULL)
            fail_msg("%s: %s, expected %s", bound[i].devices, why ? why : "nothing",
                     bound[i].immovable ? bound[i].immovable : "nothing");
    }
}

/* Values that no domain has are not known, rather than taken over. */
static void impossible_values_are_left_out(void **state)
{
    (void)state;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct domain_xml d = domain(&a, "<domain><vcpu>99999999</vcpu><memory unit='parsec'>5</memory>"
                                     "<cputune><quota>-1</quota><shares>-3</shares></cputune>"
                                     "<cpu><model>a'b</model></cpu></domain>");

    assert_int_equal(d.vcpus, 0);
    assert_within(d.mem_mb, 0, 0);
    assert_true(isinf(d.vcpu_quota));
    assert_within(d.shares, 0, 0);
    assert_int_equal(d.cpu, DOMAIN_CPU_NONE);
}

static void broken_descriptions_are_refused_with_a_sentence(void **state)
{
    (void)state;
    CLEANUP(arena_releasep) struct arena a = {0};
    size_t ten_mb = 10 << 20;
    char *big = arena_alloc(&a, 1, ten_mb + 1);
    struct domain_xml d;
    struct capabilities_xml c;
    struct err err = {0};

    memset(big, ' ', ten_mb);
    assert_int_equal(domain_xml_read(big, &a, &d, &err), -EFBIG);
    assert_string_equal(err.text, "the description has 10485760 bytes, expected at most 4194304");
    assert_int_equal(capabilities_xml_read(big, &a, &c, &err), -EFBIG);
    assert_int_equal(domain_xml_read("<domain><name>", &a, &d, &err), -EPROTO);
    assert_int_equal(domain_xml_read("<network/>", &a, &d, &err), -EPROTO);
    assert_int_equal(domain_xml_read("", &a, &d, &err), -EPROTO);
}

static void a_recorded_host_is_read(void **state)
{
    (void)state;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct capabilities_xml c;
    struct err err = {0};

    assert_int_equal(capabilities_xml_read(read_reply(&a, "capabilities-9.0.xml"), &a, &c, &err), 0);
    assert_string_equal(c.uuid, "00000007-0000-4000-8000-000000000007");
    assert_string_equal(c.arch, "x86_64");
    assert_string_equal(c.vendor, "amd");
    assert_within(c.tsc_mhz, 2596.122, 1e-6);
    assert_int_equal(c.numa.n, 1);
    const struct numa_cell *cell = c.numa.items;
    const struct numa_pages *pages = cell->pages.items;
    assert_true(cell->id == 0 && cell->cpus == 2 && cell->mem_mb == 13402 && cell->socket_given &&
                cell->socket == 0);
    assert_true(cell->pages.n == 3 && pages[1].size_kb == 2048 && pages[1].total == 0 &&
                pages[0].total == 3430965);
    assert_non_null(strstr(c.host_cpu, "kvm64"));
    bool q35 = false;
    for (uint32_t i = 0; i < c.machines.n; i++)
        q35 = q35 || strcmp(c.machines.items[i], "x86_64/pc-q35-7.2") == 0;
    assert_true(q35);
}

#define CELLS "<capabilities><host><topology><cells>%s</cells></topology></host></capabilities>"
#define CELL                                                                                                 \
    "<cell id='%s'><memory unit='KiB'>%s</memory><pages unit='KiB' size='4'>1</pages><pages "                \
    "size='4'>1</pages></cell>"

static void implausible_numa_nodes_are_left_out(void **state)
{
    static const struct {
        const char *first, *second, *memory;
        uint32_t n;
    } cases[] = {{"0", "1", "2048", 2}, {"0", "0", "2048", 0}, {"0", "-1", "2048", 0},
                 {"0", "x", "2048", 0}, {"0", "1", "-5", 0},   {"0", "1", "99999999999999999", 0}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct capabilities_xml c;
        struct err err = {0};
        const char *both =
            arena_printf(&a, CELL CELL, cases[i].first, "1024", cases[i].second, cases[i].memory);

        assert_int_equal(capabilities_xml_read(arena_printf(&a, CELLS, both), &a, &c, &err), 0);
        assert_int_equal(c.numa.n, cases[i].n);
        assert_true(c.numa.n == 0 || ((const struct numa_cell *)c.numa.items)[1].pages.n == 1);
    }
}

#define TUNED(tune, more)                                                                                    \
    "<domain><vcpu>4</vcpu><memory unit='MiB'>4096</memory><numatune>" tune "</numatune>" more "</domain>"
#define GUEST                                                                                                \
    "<cpu><numa><cell id='0' cpus='0-1' memory='1024' unit='MiB'/><cell id='1' cpus='2-3' "                  \
    "memory='3145728'/></numa></cpu>"

static void only_what_is_bound_to_one_node_is_a_cell(void **state)
{
    static const struct {
        const char *text;
        uint32_t n, cell, mem_mb, page_kb;
        enum numa_page_choice pages;
    } cases[] = {
        {TUNED("<memory mode='strict' nodeset='1'/>", ""), 1, 1, 4096, 0, NUMA_PAGES_BY_SIZE},
        {TUNED("<memory nodeset='1'/>", ""), 1, 1, 4096, 0, NUMA_PAGES_BY_SIZE},
        {TUNED("<memory mode='strict' nodeset='0-1'/>", ""), 0, 0, 0, 0, NUMA_PAGES_BY_SIZE},
        {TUNED("<memory mode='preferred' nodeset='1'/>", ""), 0, 0, 0, 0, NUMA_PAGES_BY_SIZE},
        {TUNED("<memory mode='strict' nodeset='x'/>", ""), 0, 0, 0, 0, NUMA_PAGES_BY_SIZE},
        {TUNED("<memory placement='auto' mode='strict'/>", ""), 0, 0, 0, 0, NUMA_PAGES_BY_SIZE},
        {TUNED("<memnode cellid='1' mode='strict' nodeset='3'/>", GUEST), 1, 3, 3072, 0, NUMA_PAGES_BY_SIZE},
        {TUNED("<memory nodeset='2'/><memnode cellid='1' nodeset='0-3'/>", GUEST), 1, 2, 1024, 0,
         NUMA_PAGES_BY_SIZE},
        {TUNED("<memory nodeset='2'/>", GUEST), 1, 2, 4096, 0, NUMA_PAGES_BY_SIZE},
        {TUNED("<memory nodeset='0'/><memnode cellid='1' nodeset='1'/>", GUEST), 2, 0, 1024, 0,
         NUMA_PAGES_BY_SIZE},
        {TUNED("<memory nodeset='1'/>", "<memoryBacking><hugepages/></memoryBacking>"), 1, 1, 4096, 0,
         NUMA_PAGES_LARGE},
        {TUNED("<memory nodeset='1'/>",
               "<memoryBacking><hugepages><page size='1' unit='G'/></hugepages></memoryBacking>"),
         1, 1, 4096, 1048576, NUMA_PAGES_BY_SIZE},
        {"<domain><vcpu>4</vcpu><memory>4096</memory>" GUEST "</domain>", 0, 0, 0, 0, NUMA_PAGES_BY_SIZE},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct domain_xml d = domain(&a, cases[i].text);
        const struct vm_numa_cell *cell = d.numa.items;

        if (d.numa.n != cases[i].n ||
            (d.numa.n > 0 && (cell->cell != cases[i].cell || cell->mem_mb != cases[i].mem_mb ||
                              cell->page_kb != cases[i].page_kb || cell->pages != cases[i].pages ||
                              !cell->fixed || !cell->cell_given)))
            fail_msg("%s: %u cells, the first with %u MiB in node %u", cases[i].text, d.numa.n,
                     d.numa.n > 0 ? cell->mem_mb : 0, d.numa.n > 0 ? cell->cell : 0);
    }
}

static bool has(const struct ids *of, const char *name)
{
    for (uint32_t i = 0; i < of->n; i++)
        if (strcmp(of->items[i], name) == 0)
            return true;
    return false;
}

/* Features become the traits of nova-compute, and the CPU's description goes to libvirt and comes back. */
static void features_are_traits(void **state)
{
    (void)state;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct capabilities_xml c;

    assert_int_equal(capabilities_xml_read(read_reply(&a, "capabilities-9.0.xml"), &a, &c, NULL), 0);
    assert_non_null(
        strstr(c.cpu_xml, "<cpu><arch>x86_64</arch><model>kvm64</model><vendor>AMD</vendor><feature name='"));
    struct ids again = capabilities_xml_features(c.cpu_xml, &a);
    struct ids traits = cpu_traits_of(&again, &a);

    assert_int_equal(again.n, c.features.n);
    assert_true(has(&traits, "HW_CPU_X86_CLMUL") && has(&traits, "HW_CPU_X86_SSSE3") &&
                has(&traits, "HW_CPU_X86_FMA3"));
    for (uint32_t i = 1; i < traits.n; i++)
        assert_true(strcmp(traits.items[i - 1], traits.items[i]) < 0);
    again = capabilities_xml_features(
        "<cpu><model>Haswell</model><feature name='svm'/><feature policy='disable' name='avx'/>"
        "<feature name='&lt;aes'/><feature name='unheard-of'/></cpu>",
        &a);
    traits = cpu_traits_of(&again, &a);
    assert_int_equal(traits.n, 2); /* one feature, two names */
    assert_true(has(&traits, "HW_CPU_X86_AMD_SVM") && has(&traits, "HW_CPU_X86_SVM"));
    assert_int_equal(capabilities_xml_features("<cpu", &a).n, 0);
    assert_int_equal(capabilities_xml_features("<domain><feature name='aes'/></domain>", &a).n, 0);
    const char *const wrong =
        "<capabilities><host><cpu><arch>x</arch><model>a b</model></cpu></host></capabilities>";
    assert_int_equal(capabilities_xml_read(wrong, &a, &c, NULL), 0);
    assert_null(c.cpu_xml);
}

static void pools_are_shared_by_their_type(void **state)
{
    (void)state;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct storage_pool p;

    assert_int_equal(storage_pool_read(read_reply(&a, "pool-netfs.xml"), &a, &p, NULL), 0);
    assert_string_equal(p.name, "images");
    assert_string_equal(p.path, "/mnt/nfs/images");
    assert_true(p.shared);
    assert_int_equal(storage_pool_read("<pool type='dir'><name>d</name></pool>", &a, &p, NULL), 0);
    assert_false(p.shared);
    assert_int_equal(storage_pool_read("<pool type='dir'/>", &a, &p, NULL), -EPROTO);
}

/* ---- statistics ---- */

#define U(name, v)                                                                                           \
    {                                                                                                        \
        .field = name, .type = VIR_TYPED_PARAM_ULLONG, .value.ul = (v)                                       \
    }

static void statistics_become_samples(void **state)
{
    (void)state;
    const virTypedParameter first[] = {U("state.state", 1),          U("cpu.time", 5000000000),
                                       U("vcpu.current", 2),         U("vcpu.0.time", 1000000000),
                                       U("vcpu.1.time", 2000000000), U("vcpu.0.delay", 100000000),
                                       U("vcpu.1.delay", 0)};
    const virTypedParameter second[] = {
        U("state.state", 1),
        U("cpu.time", 15000000000),
        U("vcpu.0.time", 5000000000),
        U("vcpu.1.time", 7000000000),
        U("vcpu.0.delay", 600000000),
        U("vcpu.1.delay", 500000000),
        U("balloon.rss", 3 << 20),
        U("balloon.available", 2000 << 10),
        U("balloon.usable", 1500 << 10),
        U("balloon.last-update", 990),
        U("dirtyrate.calc_status", 2),
        {.field = "dirtyrate.megabytes_per_second", .type = VIR_TYPED_PARAM_LLONG, .value.l = 7}};
    struct domain_stats before, now;

    host_look_read_stats(first, ELEMENTS(first), 1000, &before);
    host_look_read_stats(second, ELEMENTS(second), 11000, &now);
    assert_int_equal(now.state, VIR_DOMAIN_RUNNING);
    assert_within(now.dirty_mb_s, 7, 0);
    assert_within(now.guest_used_mb, 500, 0);

    struct vm_sample s = host_look_sample(&before.counters, &now, 2, 2500, 2048);
    assert_true(s.present);
    assert_within(s.interval_ms, 10000, 0);
    assert_within(s.cpu_used_mhz, 2500, 1e-6); /* one CPU of two */
    assert_within(s.cpu_run_ms, 9000, 1e-6);
    assert_within(s.cpu_ready_ms, 1000, 1e-6);
    assert_within(s.cpu_sleep_ms, 10000, 1e-6);
    assert_within(s.mem_consumed_mb, 2048, 0); /* QEMU's own memory is overhead */
    assert_within(s.mem_overhead_mb, 1024, 0);
    assert_within(s.mem_guest_used_mb, 500, 0);
}

static void counters_that_cannot_be_compared_give_no_sample(void **state)
{
    (void)state;
    struct domain_stats before = {.counters = {.at_ms = 0, .cpu_ms = 100, .run_ms = 50, .delay_ms = 1}};
    struct domain_stats now = {.counters = {.at_ms = 60000, .cpu_ms = 99, .run_ms = 60, .delay_ms = 2}};

    assert_false(host_look_sample(&before.counters, &now, 1, 2000, 100).present); /* another process */
    now.counters.cpu_ms = 200;
    assert_true(host_look_sample(&before.counters, &now, 1, 2000, 100).present);
    now.counters.at_ms = 100; /* too short */
    assert_false(host_look_sample(&before.counters, &now, 1, 2000, 100).present);
    assert_false(host_look_sample(NULL, &now, 1, 2000, 100).present);
    assert_false(host_look_sample(&before.counters, &now, 1, UNKNOWN, 100).present);
}

/* Turbo and the emulator's threads are honest; a hundred CPUs are not. */
static void use_beyond_all_vcpus_is_capped_as_far_as_it_is_honest(void **state)
{
    (void)state;
    struct domain_stats before = {.counters = {.at_ms = 0, .cpu_ms = 0}};
    struct domain_stats now = {.counters = {.at_ms = 1000, .cpu_ms = 1400}};

    assert_within(host_look_sample(&before.counters, &now, 1, 2000, 100).cpu_used_mhz, 2000, 0);
    now.counters.cpu_ms = 100000;
    assert_within(host_look_sample(&before.counters, &now, 1, 2000, 100).cpu_used_mhz, 200000, 0);
}

static void a_silent_balloon_driver_is_not_believed(void **state)
{
    (void)state;
    const virTypedParameter list[] = {U("balloon.available", 2000 << 10), U("balloon.usable", 1500 << 10),
                                      U("balloon.last-update", 100)};
    struct domain_stats first, s;

    host_look_read_stats(list, ELEMENTS(list), 1000, &first);
    host_look_mark_silent(NULL, 100, &first);
    assert_within(first.guest_used_mb, 500, 0);
    for (int64_t ms = 121000; ms <= 122000; ms += 1000) { /* the clock of the host does not count */
        host_look_read_stats(list, ELEMENTS(list), ms, &s);
        host_look_mark_silent(&first, 100, &s);
        assert_true(ms == 121000 ? s.guest_used_mb == 500 : isnan(s.guest_used_mb));
    }
    /* looked at for the first time: as old as it is behind the guest of the same host that spoke last */
    for (int behind = 120; behind <= 121; behind++) {
        host_look_read_stats(list, ELEMENTS(list), 1000, &first);
        host_look_mark_silent(NULL, 100 + behind, &first);
        assert_true(behind == 120 ? first.guest_used_mb == 500 : isnan(first.guest_used_mb));
    }
    host_look_read_stats(list, ELEMENTS(list), 2000, &s); /* and it has not spoken since */
    host_look_mark_silent(&first, 500, &s);
    assert_true(isnan(s.guest_used_mb));
    host_look_read_stats(list, ELEMENTS(list), 1000, &first);
    host_look_mark_silent(NULL, 1e19, &first); /* a host may say anything */
    assert_true(isnan(first.guest_used_mb));
    s.guest_said_s = 99; /* set back, and it speaks again */
    host_look_read_stats(list, ELEMENTS(list), 123000, &first);
    host_look_mark_silent(&s, 100, &first);
    assert_within(first.guest_used_mb, 500, 0);
}

/* A domain's own disk that it writes to, under the name and with the size that libvirt has for it. */
static void disks_that_can_be_copied(void **state)
{
    static const char text[] =
        "<domain><devices>"
        "<disk type='file' device='disk'><source file='/a'/><target dev='vda'/></disk>"
        "<disk type='volume' device='disk'><source pool='p' volume='b'/><target dev='vdb'/></disk>"
        "<disk type='file' device='cdrom'><source file='/c'/><target dev='hdc'/></disk>"
        "<disk type='file' device='disk'><source file='/d'/><target dev='vdd'/><readonly/></disk>"
        "<disk type='file' device='disk'><source file='/e'/><target dev='vde'/><shareable/></disk>"
        "<disk type='file' device='disk'><source file='/f'/></disk>"
        "</devices></domain>";
    CLEANUP(arena_releasep) struct arena a = {0};
    struct domain_xml d;
    const virTypedParameter stats[] = {
        U("block.count", 3),
        {.field = "block.0.name", .type = VIR_TYPED_PARAM_STRING, .value.s = (char *)(uintptr_t) "vda"},
        U("block.0.allocation", 0),
        U("block.0.physical", 64 << 20),
        {.field = "block.1.name", .type = VIR_TYPED_PARAM_STRING, .value.s = (char *)(uintptr_t) "other"},
        U("block.1.physical", 32 << 20)};

    (void)state;
    assert_int_equal(domain_xml_read(text, &a, &d, NULL), 0);
    host_look_read_disks(stats, ELEMENTS(stats), &d);
    assert_int_equal(d.n_disks, 6);
    for (size_t i = 0; i < d.n_disks; i++) {
        assert_int_equal(d.disks[i].copyable, i < 2);
        assert_within(d.disks[i].size_mb, i == 0 ? 64 : 0, 0);
    }
    assert_string_equal(d.disks[1].target, "vdb");
}

static double number_of(const struct attributes *of, const char *name)
{
    for (uint32_t i = 0; i < of->n; i++)
        if (strcmp(of->items[i].name, name) == 0 && of->items[i].is.type == VALUE_NUMBER)
            return of->items[i].is.number;
    return -1;
}

/* What nova-compute notes of a server. */
static void metadata_of_openstack_is_read(void **state)
{
#define NOVA(version, root)                                                                                  \
    "<domain><metadata><nova:instance xmlns:nova='http://openstack.org/xmlns/libvirt/nova/" version "'>"     \
    "<nova:package version='26.2'/><nova:name>web</nova:name><nova:flavor name='m1.small'>"                  \
    "<nova:memory>2048</nova:memory><nova:disk>20</nova:disk><nova:swap>-1</nova:swap>"                      \
    "<nova:ephemeral>0</nova:ephemeral><nova:vcpus>2</nova:vcpus></nova:flavor>"                             \
    "<nova:owner><nova:user uuid='u'>admin</nova:user><nova:project uuid='p1'>shop</nova:project>"           \
    "</nova:owner>" root "</nova:instance></metadata></domain>"
    static const struct {
        const char *text;
        bool known, of_image;
    } cases[] = {
        {NOVA("1.1", "<nova:root type='image' uuid='i1'/>"), true, true},
        {NOVA("1.0", "<nova:root type='image' uuid='i1'/>"), true, true},
        {NOVA("1.1", "<nova:root type='volume' uuid='v1'/>"), true, false},
        {NOVA("9", "<nova:root type='image' uuid='i1'/>"), false, false},
        {"<domain/>", false, false},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct domain_xml d = domain(&a, cases[i].text);

        assert_int_equal(d.owner && strcmp(d.owner, "p1") == 0, cases[i].known);
        assert_int_equal(d.flavor.n, cases[i].known ? 5 : 0);
        assert_within(number_of(&d.flavor, "mem_mb"), cases[i].known ? 2048 : -1, 0);
        assert_within(number_of(&d.flavor, "vcpus"), cases[i].known ? 2 : -1, 0);
        assert_within(number_of(&d.flavor, "disk_gb"), cases[i].known ? 20 : -1, 0);
        assert_within(number_of(&d.flavor, "ephemeral_gb"), cases[i].known ? 0 : -1, 0);
        assert_within(number_of(&d.flavor, "swap_mb"), -1, 0); /* impossible */
        assert_int_equal(d.image.n, cases[i].of_image);
        if (cases[i].of_image)
            assert_string_equal(d.image.items[0].is.text, "i1");
    }
#undef NOVA
}

static void a_note_of_a_migration_is_read(void **state)
{
    static const char *const texts[][3] = {
        {"<domain><metadata><b:left-over xmlns:b='urn:ballast:left-over' task='t'/></metadata></domain>", "t",
         NULL},
        {"<domain><metadata><b:left-over xmlns:b='urn:ballast:left-over' task='t'><also/><also task='u'/>"
         "</b:left-over></metadata></domain>",
         "t", "u"},
        {"<domain><metadata><b:left-over xmlns:b='urn:other' task='t'/></metadata></domain>", NULL, NULL},
        {"<domain><metadata/></domain>", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(texts); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct domain_xml d;

        assert_int_equal(domain_xml_read(texts[i][0], &a, &d, NULL), 0);
        for (uint32_t k = 0; k < 2; k++) {
            assert_int_equal(d.left_over.n > k, texts[i][k + 1] != NULL);
            if (texts[i][k + 1])
                assert_string_equal(d.left_over.items[k], texts[i][k + 1]);
        }
        assert_int_equal(d.labels.n, 0); /* no label for rules */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorded_domain_is_read),
        cmocka_unit_test(metadata_of_openstack_is_read),
        cmocka_unit_test(controls_disks_networks_and_labels_are_read),
        cmocka_unit_test(own_controls_are_kept_in_the_metadata),
        cmocka_unit_test(what_binds_a_domain_is_named),
        cmocka_unit_test(impossible_values_are_left_out),
        cmocka_unit_test(broken_descriptions_are_refused_with_a_sentence),
        cmocka_unit_test(a_recorded_host_is_read),
        cmocka_unit_test(implausible_numa_nodes_are_left_out),
        cmocka_unit_test(only_what_is_bound_to_one_node_is_a_cell),
        cmocka_unit_test(features_are_traits),
        cmocka_unit_test(pools_are_shared_by_their_type),
        cmocka_unit_test(disks_that_can_be_copied),
        cmocka_unit_test(a_note_of_a_migration_is_read),
        cmocka_unit_test(statistics_become_samples),
        cmocka_unit_test(counters_that_cannot_be_compared_give_no_sample),
        cmocka_unit_test(use_beyond_all_vcpus_is_capped_as_far_as_it_is_honest),
        cmocka_unit_test(a_silent_balloon_driver_is_not_believed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
