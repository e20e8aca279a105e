/* Looks at several KVM hosts as one inventory: contradictions between hosts, hosts that do not answer,
 * storage, CPUs, controls. */
#include "unit.h"

#include "base/cleanup.h"
#include "collectors/libvirt/inventory.h"
#include "model/snapshot_build.h"

#include <math.h>
#include <string.h>

#define A "00000000-0000-4000-8000-00000000000a"

static const struct libvirt_host_settings settings_of[] = {
    {.name = "hv1", .cpu_mhz = UNKNOWN, .mem_mb = UNKNOWN},
    {.name = "hv2", .cpu_mhz = UNKNOWN, .mem_mb = UNKNOWN},
    {.name = "hv3", .cpu_mhz = UNKNOWN, .mem_mb = UNKNOWN},
};

static const char *const machines[] = {"x86_64/pc-q35-7.2"};

struct world {
    struct arena a;
    struct host_look look[3];
    struct domain_look domains[3][4];
    struct libvirt_seen_host seen[3];
    const struct host_look *before[3];
    struct libvirt_settings settings;
    struct inventory inv;
    struct libvirt_faults faults;
};

static struct world a_world(void)
{
    static const char *const uuids[] = {"u1", "u2", "u3"};
    struct world w = {0};

    for (size_t i = 0; i < 3; i++)
        w.look[i] = (struct host_look){.host = settings_of[i].name,
                                       .measured = 1000,
                                       .caps = {.uuid = uuids[i],
                                                .vendor = "intel",
                                                .host_cpu = "host-passthrough X (1)",
                                                .machines = {.items = machines, .n = 1}},
                                       .cpus = 4,
                                       .core_mhz = 2000,
                                       .mem_mb = 16384,
                                       .mem_free_mb = 8192,
                                       .pools.known = true};
    return w;
}

static struct domain_look *add(struct world *w, size_t host, const char *uuid, int state, int reason)
{
    struct domain_look *d = &w->domains[host][w->look[host].n_domains++];

    *d = (struct domain_look){
        .name = "vm",
        .active = state != VIR_DOMAIN_SHUTOFF,
        .stats = {.state = state,
                  .reason = reason,
                  .rss_mb = 1000,
                  .guest_used_mb = UNKNOWN,
                  .dirty_mb_s = UNKNOWN},
        .xml = {.name = "vm",
                .type = "kvm",
                .arch = "x86_64",
                .machine = "pc-q35-7.2",
                .vcpus = 2,
                .mem_mb = 2048,
                .vcpu_quota = NO_LIMIT,
                .global_quota = NO_LIMIT,
                .hard_limit_mb = NO_LIMIT},
        .sample = {.present = d->active,
                   .interval_ms = 1000,
                   .cpu_used_mhz = 500,
                   .cpu_run_ms = 250,
                   .cpu_sleep_ms = 1750,
                   .cpu_ready_ms = 0,
                   .core_mhz = 2000,
                   .mem_active_mb = UNKNOWN,
                   .mem_guest_used_mb = UNKNOWN,
                   .mem_consumed_mb = 1000,
                   .mem_overhead_mb = 0},
    };
    d->sample.present = d->active;
    memcpy(d->uuid, uuid, strlen(uuid) + 1);
    return d;
}

/* The mapping, and that a snapshot can be built of it. */
static void map(struct world *w, unsigned silent)
{
    struct snapshot snap;
    struct err err = {0};

    w->inv = (struct inventory){.cluster = "c", .time = 1000};
    for (size_t i = 0; i < 3; i++) {
        w->look[i].domains = w->domains[i];
        w->seen[i] = (struct libvirt_seen_host){.settings = &settings_of[i],
                                                .look = &w->look[i],
                                                .before = w->before[i],
                                                .answered = !(silent >> i & 1),
                                                .why = "hv1: no answer within 10 s"};
    }
    libvirt_inventory(w->seen, 3, &w->settings, &w->a, &w->inv, &w->faults);
    if (snapshot_build(&w->inv, &w->a, &snap, &err) < 0)
        fail_msg("%s", err.text);
}

static void numa_nodes_and_bound_memory_are_taken_over(void **state)
{
    static const struct numa_pages pages = {.size_kb = 4, .total = 1000};
    const struct numa_cell cells[] = {{.id = 0, .cpus = 2, .mem_mb = 8192, .pages = {&pages, 1}},
                                      {.id = 1, .cpus = 2, .mem_mb = 8192}};
    const struct vm_numa_cell bound = {.mem_mb = 2048, .cell = 1, .cell_given = true, .fixed = true};
    struct world w = a_world();

    (void)state;
    w.look[0].caps.numa = (struct objects){cells, 2};
    add(&w, 0, A, VIR_DOMAIN_RUNNING, 1)->xml.numa = (struct objects){&bound, 1};
    map(&w, 0);
    const struct numa_cell *of_host = w.inv.hosts[0].is.numa.items;
    const struct vm_numa_cell *of_vm = w.inv.vms[0].is.numa.items;

    assert_int_equal(w.inv.hosts[0].is.numa.n, 2);
    assert_int_equal(w.inv.hosts[1].is.numa.n, 0);
    assert_true(of_host != cells && of_host[1].id == 1 && of_host[0].pages.items != &pages &&
                of_host[0].pages.n == 1);
    assert_true(w.inv.vms[0].is.numa.n == 1 && of_vm != &bound && of_vm->cell == 1 && of_vm->fixed);
    arena_release(&w.a);
}

static void a_running_domain_counts_before_one_that_is_off(void **state)
{
    (void)state;
    struct world w = a_world();

    (void)add(&w, 0, A, VIR_DOMAIN_SHUTOFF, 0);
    (void)add(&w, 1, A, VIR_DOMAIN_RUNNING, 1);
    map(&w, 0);
    assert_int_equal(w.inv.n_vms, 1);
    assert_string_equal(w.inv.vms[0].host, "hv2");
    assert_int_equal(w.inv.vms[0].is.state, VM_ON);
    assert_int_equal(w.faults.n, 0);
    arena_release(&w.a);
}

/* Both hosts must stay on, so the VM is there twice, and neither can be moved. */
static void a_domain_that_runs_twice_is_a_fault_and_is_not_touched(void **state)
{
    (void)state;
    struct world w = a_world();

    (void)add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);
    (void)add(&w, 1, A, VIR_DOMAIN_RUNNING, 1);
    map(&w, 0);
    assert_int_equal(w.inv.n_vms, 2);
    assert_string_equal(w.inv.vms[0].is.id, A);
    assert_string_equal(w.inv.vms[1].is.id, A "@hv2");
    assert_non_null(w.inv.vms[0].is.immovable);
    assert_non_null(w.inv.vms[1].is.immovable);
    assert_int_equal(w.faults.n, 1);
    assert_non_null(strstr(w.faults.items[0], "runs on hv1 and on hv2 at once"));
    arena_release(&w.a);
}

/* The hosts are not looked at in the same moment. */
static void a_vm_that_has_just_arrived_runs_once(void **state)
{
    (void)state;
    for (int from = 0; from < 2; from++) {
        struct world w = a_world();
        struct host_look before[2] = {{.domains = NULL}, {.domains = NULL}};

        (void)add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);
        (void)add(&w, 1, A, VIR_DOMAIN_RUNNING, 1);
        before[from] = w.look[from];
        before[from].domains = w.domains[from];
        w.before[0] = &before[0];
        w.before[1] = &before[1];
        map(&w, 0);
        assert_int_equal(w.inv.n_vms, 1);
        assert_string_equal(w.inv.vms[0].host, from == 0 ? "hv2" : "hv1");
        assert_int_equal(w.inv.vms[0].is.automation, AUTOMATION_DISABLED);
        assert_int_equal(w.inv.n_migrations, 1);
        assert_string_equal(w.inv.migrations[0].from, from == 0 ? "hv1" : "hv2");
        assert_int_equal(w.faults.n, 0);
        before[1 - from] = w.look[1 - from]; /* and still, at the next look */
        before[1 - from].domains = w.domains[1 - from];
        map(&w, 0);
        assert_int_equal(w.inv.n_vms, 2);
        assert_int_equal(w.faults.n, 1);
        arena_release(&w.a);
    }
}

static void a_migration_under_way_is_one_vm(void **state)
{
    (void)state;
    struct world w = a_world();

    (void)add(&w, 1, A, VIR_DOMAIN_PAUSED, VIR_DOMAIN_PAUSED_MIGRATION);
    (void)add(&w, 2, A, VIR_DOMAIN_RUNNING, 1);
    map(&w, 0);
    assert_int_equal(w.inv.n_vms, 1);
    assert_string_equal(w.inv.vms[0].host, "hv3");
    assert_int_equal(w.inv.vms[0].is.automation, AUTOMATION_DISABLED);
    assert_int_equal(w.faults.n, 0);
    assert_int_equal(w.inv.n_migrations, 1); /* takes the hosts' slots, whoever has begun it */
    assert_string_equal(w.inv.migrations[0].from, "hv3");
    assert_string_equal(w.inv.migrations[0].to, "hv2");
    arena_release(&w.a);
}

/* After the hand-over the source still has pages: without power it would take the guest with it. */
static void the_source_of_a_post_copy_migration_is_not_empty(void **state)
{
    (void)state;
    struct world w = a_world();

    (void)add(&w, 1, A, VIR_DOMAIN_PAUSED, VIR_DOMAIN_PAUSED_POSTCOPY);
    (void)add(&w, 2, A, VIR_DOMAIN_RUNNING, VIR_DOMAIN_RUNNING_POSTCOPY);
    map(&w, 0);
    assert_int_equal(w.inv.n_vms, 1);
    assert_string_equal(w.inv.vms[0].host, "hv3");
    assert_int_equal(w.inv.n_migrations, 1);
    assert_string_equal(w.inv.migrations[0].from, "hv2");
    assert_string_equal(w.inv.migrations[0].to, "hv3");
    map(&w, 1u << 2); /* the destination's host is silent: the VM is where its pages are */
    assert_string_equal(w.inv.vms[0].host, "hv2");
    assert_int_equal(w.inv.n_migrations, 0);
    arena_release(&w.a);
}

static void the_domains_of_a_silent_host_stay_there(void **state)
{
    (void)state;
    struct world w = a_world();

    (void)add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);
    (void)add(&w, 1, A, VIR_DOMAIN_SHUTOFF, 0); /* the same one, defined elsewhere: must not be started */
    map(&w, 1u << 0);
    assert_int_equal(w.inv.hosts[0].is.state, HOST_DISCONNECTED);
    assert_string_equal(w.inv.hosts[0].is.disconnected_why, "no answer within 10 s");
    assert_int_equal(w.inv.hosts[1].is.state, HOST_ON);
    assert_null(w.inv.hosts[1].is.disconnected_why);
    assert_int_equal(w.inv.n_vms, 1);
    assert_string_equal(w.inv.vms[0].host, "hv1");
    assert_int_equal(w.inv.vms[0].is.state, VM_ON);
    assert_true(w.inv.vms[0].is.demand_unknown);
    arena_release(&w.a);
}

/* Seen elsewhere now, it is there. */
static void a_domain_that_left_a_silent_host_is_where_it_runs(void **state)
{
    (void)state;
    struct world w = a_world();

    (void)add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);
    (void)add(&w, 2, A, VIR_DOMAIN_RUNNING, 1);
    map(&w, 1u << 0);
    assert_int_equal(w.inv.n_vms, 1);
    assert_string_equal(w.inv.vms[0].host, "hv3");
    arena_release(&w.a);
}

/* Only a person knows which of the two is valid. */
static void a_domain_that_is_defined_twice_is_a_fault(void **state)
{
    (void)state;
    struct world w = a_world();

    (void)add(&w, 0, A, VIR_DOMAIN_SHUTOFF, 0);
    (void)add(&w, 2, A, VIR_DOMAIN_SHUTOFF, 0);
    map(&w, 1u << 2); /* as that host said before */
    assert_int_equal(w.faults.n, 0);
    map(&w, 0);
    assert_int_equal(w.inv.n_vms, 1);
    assert_int_equal(w.faults.n, 1);
    assert_non_null(strstr(w.faults.items[0], "is off, and is defined on hv1 and on hv3"));
    arena_release(&w.a);
}

/* What was never seen may run any of the VMs that are off: none of them can be started. */
static void while_a_host_was_never_seen_domains_that_are_off_are_in_doubt(void **state)
{
    (void)state;
    struct world w = a_world();

    (void)add(&w, 0, A, VIR_DOMAIN_SHUTOFF, 0);
    map(&w, 0);
    assert_int_equal(w.inv.n_vms, 1);
    assert_int_equal(w.inv.vms[0].is.state, VM_OFF);
    assert_false(w.inv.vms[0].if_all_sleep);
    w.seen[2].look = NULL;
    w.seen[2].answered = false;
    w.inv = (struct inventory){.cluster = "c", .time = 1000};
    libvirt_inventory(w.seen, 3, &w.settings, &w.a, &w.inv, &w.faults);
    assert_int_equal(w.inv.n_vms, 1); /* the service leaves it out, unless it has put that host to sleep */
    assert_true(w.inv.vms[0].if_all_sleep);
    assert_int_equal(w.inv.hosts[2].is.state, HOST_DISCONNECTED);
    arena_release(&w.a);
}

static void hosts_with_one_uuid_are_not_touched(void **state)
{
    (void)state;
    struct world w = a_world();

    w.look[1].caps.uuid = "u1";
    (void)add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);
    map(&w, 0);
    assert_int_equal(w.inv.hosts[0].is.state, HOST_DISCONNECTED);
    assert_int_equal(w.inv.hosts[1].is.state, HOST_DISCONNECTED);
    assert_int_equal(w.inv.hosts[2].is.state, HOST_ON);
    assert_true(w.inv.vms[0].is.demand_unknown);
    assert_int_equal(w.faults.n, 1);
    assert_non_null(strstr(w.faults.items[0], "hosts hv1 and hv2 have the same UUID u1"));
    assert_string_equal(w.inv.hosts[1].is.disconnected_why, w.faults.items[0]);
    arena_release(&w.a);
}

static void a_paused_domain_stays_and_says_why(void **state)
{
    (void)state;
    struct world w = a_world();

    (void)add(&w, 0, A, VIR_DOMAIN_PAUSED, VIR_DOMAIN_PAUSED_IOERROR);
    map(&w, 0);
    assert_int_equal(w.inv.vms[0].is.state, VM_ON); /* its memory is still there: the host is not empty */
    assert_string_equal(w.inv.vms[0].is.immovable, "its pause after an I/O error");
    assert_int_equal(w.faults.n, 1);
    assert_non_null(strstr(w.faults.items[0], "on hv1 is paused after an I/O error"));
    arena_release(&w.a);
}

static void disks_must_be_known_to_be_shared(void **state)
{
    (void)state;
    static const char *const folders[] = {"/mnt/nfs/", NULL};
    static const struct {
        const char *path, *pool;
        bool movable;
        const char *store;
    } cases[] = {
        {"/mnt/nfs/x.qcow2", NULL, true, NULL},
        {"/mnt/nfs/../local/x.qcow2", NULL, false, NULL},
        {"/mnt/nfsx/x.qcow2", NULL, false, NULL},
        {"/var/lib/libvirt/images/x.qcow2", NULL, false, NULL},
        {"/srv/images/x.qcow2", NULL, true, "images (/srv/images)"},
        {NULL, "images", true, "images (/srv/images)"},
        {NULL, "local", false, NULL},
        {NULL, "nowhere", false, NULL},
    };

    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w = a_world();
        struct storage_pool pools[] = {{"images", "/srv/images", true}, {"local", "/srv/local", false}};
        struct domain_disk disk = {.path = cases[i].path, .pool = cases[i].pool};
        struct domain_look *d = add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);

        w.settings.shared_paths = folders;
        w.look[0].pools = (struct storage_pools){.items = pools, .n = 2, .known = true};
        d->xml.disks = &disk;
        d->xml.n_disks = 1;
        map(&w, 0);
        const struct vm_facts *v = &w.inv.vms[0].is;
        if ((v->immovable == NULL) != cases[i].movable || v->datastores.n != (cases[i].store ? 1 : 0))
            fail_msg("case %zu: %s, %u stores", i, v->immovable ? v->immovable : "movable", v->datastores.n);
        if (cases[i].store)
            assert_string_equal(v->datastores.items[0], cases[i].store);
        arena_release(&w.a);
    }
}

static const struct {
    struct domain_disk disk;
    bool allowed, off, movable;
    const char *store;
    double mb;
} copied[] = {
    {{.path = "/srv/local/x", .target = "vda", .copyable = true, .size_mb = 500},
     false,
     false,
     false,
     NULL,
     0},
    {{.path = "/srv/local/x", .target = "vda", .copyable = true, .size_mb = 500},
     true,
     false,
     true,
     "local (/srv/local)",
     500},
    {{.path = "/srv/local/x", .target = "vda", .copyable = true, .size_mb = 500}, true, true, false, NULL, 0},
    {{.path = "/srv/local/x.iso", .target = "hdc", .size_mb = 500}, true, false, false, NULL, 0},
    {{.path = "/elsewhere/x", .target = "vda", .copyable = true, .size_mb = 20}, true, false, true, NULL, 20},
    {{.path = "/srv/images/x", .target = "vda", .copyable = true, .size_mb = 500},
     true,
     false,
     true,
     "images (/srv/images)",
     0},
};

/* Allowed by its settings, a running VM moves with the disks that no other host has, to hosts with the same
 * pool. */
static void disks_that_are_copied_bind_no_vm(void **state)
{
    static const char *const vms[] = {"vm", NULL};
    static const struct libvirt_migration_entry full = {
        .name = "e", .vms = vms, .is.copy_storage = LIBVIRT_COPY_FULL, .copy_storage_given = true};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(copied); i++) {
        struct world w = a_world();
        struct storage_pool pools[] = {{"images", "/srv/images", true}, {"local", "/srv/local", false}};
        struct domain_disk disk = copied[i].disk;
        struct domain_look *d = add(&w, 0, A, copied[i].off ? VIR_DOMAIN_SHUTOFF : VIR_DOMAIN_RUNNING, 1);

        if (copied[i].allowed)
            w.settings.migrations = (struct objects){.items = &full, .n = 1};
        w.look[0].pools = (struct storage_pools){.items = pools, .n = 2, .known = true};
        d->xml.disks = &disk;
        d->xml.n_disks = 1;
        map(&w, 0);
        const struct vm_facts *v = &w.inv.vms[0].is;
        const struct ids *offered = &w.inv.hosts[0].is.datastores.names;
        if ((v->immovable == NULL) != copied[i].movable || v->datastores.n != (copied[i].store ? 1 : 0))
            fail_msg("case %zu: %s, %u stores", i, v->immovable ? v->immovable : "movable", v->datastores.n);
        if (copied[i].store)
            assert_string_equal(v->datastores.items[0], copied[i].store);
        assert_within(v->disks_copied_mb, copied[i].mb, 0);
        assert_int_equal(offered->n, copied[i].allowed ? 2 : 1);
        arena_release(&w.a);
    }
}

static void cpus_bind_to_hosts_that_can_give_them(void **state)
{
    (void)state;
    struct world w = a_world();
    struct cpu_verdict yes = {"kvm", "x86_64", "<cpu><model fallback='forbid'>M</model></cpu>", true, true};
    struct cpu_verdict no = yes;
    struct domain_look *d = add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);

    no.fits = false;
    d->xml.cpu = DOMAIN_CPU_MODEL;
    d->xml.cpu_xml = yes.cpu_xml;
    w.look[0].verdicts = w.look[2].verdicts = &yes;
    w.look[1].verdicts = &no;
    for (size_t i = 0; i < 3; i++)
        w.look[i].n_verdicts = 1;
    map(&w, 0);
    const char *mode = w.inv.vms[0].is.cpu_mode;
    assert_non_null(mode);
    assert_string_equal(w.inv.hosts[2].is.cpu_modes.names.items[0], mode);
    assert_int_equal(w.inv.hosts[1].is.cpu_modes.names.n, 1); /* its own CPU only */
    /* not even its own host is said to have it: the comparison tells nothing */
    w.look[0].verdicts = &no;
    map(&w, 0);
    assert_null(w.inv.vms[0].is.cpu_mode);
    d->xml.cpu = DOMAIN_CPU_HOST;
    map(&w, 0);
    assert_string_equal(w.inv.vms[0].is.cpu_mode, "host-passthrough X (1)");
    arena_release(&w.a);
}

static void a_kind_of_machine_binds_to_hosts_that_have_it(void **state)
{
    (void)state;
    static const char *const newer[] = {"x86_64/pc-q35-7.2", "x86_64/pc-q35-8.0"};
    const struct attribute fact = {"n", {VALUE_TRUTH, {true}}};
    struct world w = a_world();
    struct domain_look *d = add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);

    d->xml.machine = "pc-q35-8.0";
    w.look[2].traits = w.look[0].caps.machines = w.look[2].caps.machines = (struct ids){newer, 2};
    d->xml.owner = "p1";
    d->xml.flavor = d->xml.image = (struct attributes){&fact, 1};
    map(&w, 0);
    assert_true(w.inv.vms[0].is.flavor.n + w.inv.vms[0].is.image.n == w.inv.hosts[2].is.traits.n);
    assert_string_equal(w.inv.vms[0].is.owner, "p1");
    assert_true(w.inv.vms[0].compatible_given);
    assert_int_equal(w.inv.vms[0].compatible_hosts.n, 2);
    assert_string_equal(w.inv.vms[0].compatible_hosts.items[1], "hv3");
    arena_release(&w.a);
}

static void controls_become_shares_limits_and_reservations(void **state)
{
    (void)state;
    struct world w = a_world();
    struct domain_look *d = add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);
    const struct vm_facts *v;

    d->xml.shares = 2048;
    d->xml.vcpu_quota = 0.25;
    d->xml.hard_limit_mb = 1536;
    d->xml.min_guarantee_mb = 512;
    w.look[0].weight_default = 1024;
    map(&w, 0);
    v = &w.inv.vms[0].is;
    assert_within(v->alloc[RES_CPU].shares, 2000, 1e-9);
    assert_within(v->alloc[RES_CPU].limit, 1000, 1e-9); /* a quarter of two cores of 2000 MHz */
    assert_within(v->alloc[RES_MEM].limit, 1536, 0);
    assert_within(v->alloc[RES_MEM].reservation, 512, 0);
    assert_false(v->set.given);
    d->xml.set = true; /* by Ballast: the VM's own ones are those that it keeps */
    d->xml.own_shares = 512;
    d->xml.own_vcpu_quota = d->xml.own_global_quota = NO_LIMIT;
    map(&w, 0);
    v = &w.inv.vms[0].is;
    assert_true(w.inv.vm_controls && v->set.given && isinf(v->alloc[RES_CPU].limit));
    assert_within(v->alloc[RES_CPU].shares, 500, 1e-9);
    assert_within(v->set.shares, 2000, 1e-9);
    assert_within(v->set.limit, 1000, 1e-9);
    d->xml = (struct domain_xml){.vcpus = 8,
                                 .mem_mb = 2048,
                                 .vcpu_quota = NO_LIMIT,
                                 .global_quota = NO_LIMIT,
                                 .hard_limit_mb = NO_LIMIT,
                                 .locked = true};
    map(&w, 0);
    v = &w.inv.vms[0].is;
    assert_within(v->alloc[RES_CPU].shares, 1000, 0); /* as much as any other, whatever its size */
    assert_true(isinf(v->alloc[RES_CPU].limit));
    assert_within(v->alloc[RES_MEM].reservation, 2048, 0);
    arena_release(&w.a);
}

/* What tells whether a migration of a VM that writes fast has an end. */
static void settings_of_migrations_are_told(void **state)
{
    static const char *const vms[] = {"vm", NULL};
    static const struct libvirt_migration_entry calm = {
        .name = "e", .vms = vms, .is.auto_converge = true, .auto_converge_given = true};

    (void)state;
    struct world w = a_world();

    (void)add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);
    w.settings.migration.bandwidth_mbs = 40;
    map(&w, 0);
    assert_true(w.inv.vms[0].unthrottled);
    assert_within(w.inv.vms[0].copy_most_mb_s, 40, 0);
    w.settings.migrations = (struct objects){.items = &calm, .n = 1};
    map(&w, 0);
    assert_false(w.inv.vms[0].unthrottled);
    arena_release(&w.a);
}

/* Where several hosts share a machine, each is the part of it that the configuration says. */
static void a_configured_size_counts_instead_of_the_machines(void **state)
{
    (void)state;
    struct libvirt_host_settings part = {.name = "hv1", .cpu_mhz = 1000, .mem_mb = 2048};
    struct world w = a_world();
    struct libvirt_seen_host seen = {.settings = &part, .look = &w.look[0], .answered = true};

    (void)add(&w, 0, A, VIR_DOMAIN_RUNNING, 1);
    w.domains[0][0].sample.cpu_used_mhz = 2100;
    w.look[0].domains = w.domains[0];
    w.inv = (struct inventory){.cluster = "c", .time = 1000};
    libvirt_inventory(&seen, 1, &w.settings, &w.a, &w.inv, &w.faults);
    assert_within(w.inv.hosts[0].is.total[RES_CPU], 1000, 0);
    assert_int_equal(w.inv.hosts[0].is.cores, 1);
    assert_within(w.inv.hosts[0].is.total[RES_MEM], 2048, 0);
    assert_within(w.inv.hosts[0].is.mem_free_mb, 1048, 0);
    assert_within(w.inv.vms[0].sample.cpu_used_mhz, 2000, 0); /* two vCPUs on cores of 1000 MHz */
    arena_release(&w.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numa_nodes_and_bound_memory_are_taken_over),
        cmocka_unit_test(a_running_domain_counts_before_one_that_is_off),
        cmocka_unit_test(a_domain_that_runs_twice_is_a_fault_and_is_not_touched),
        cmocka_unit_test(a_vm_that_has_just_arrived_runs_once),
        cmocka_unit_test(a_migration_under_way_is_one_vm),
        cmocka_unit_test(the_source_of_a_post_copy_migration_is_not_empty),
        cmocka_unit_test(the_domains_of_a_silent_host_stay_there),
        cmocka_unit_test(a_domain_that_left_a_silent_host_is_where_it_runs),
        cmocka_unit_test(while_a_host_was_never_seen_domains_that_are_off_are_in_doubt),
        cmocka_unit_test(hosts_with_one_uuid_are_not_touched),
        cmocka_unit_test(a_domain_that_is_defined_twice_is_a_fault),
        cmocka_unit_test(a_paused_domain_stays_and_says_why),
        cmocka_unit_test(disks_must_be_known_to_be_shared),
        cmocka_unit_test(disks_that_are_copied_bind_no_vm),
        cmocka_unit_test(cpus_bind_to_hosts_that_can_give_them),
        cmocka_unit_test(a_kind_of_machine_binds_to_hosts_that_have_it),
        cmocka_unit_test(controls_become_shares_limits_and_reservations),
        cmocka_unit_test(settings_of_migrations_are_told),
        cmocka_unit_test(a_configured_size_counts_instead_of_the_machines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
