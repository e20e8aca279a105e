/* The folder in which the fake cluster survives the process, and through which controllers change the
 * power of its hosts. */
#include "fake_cluster_world.h"

#include <ftw.h>
#include <stdio.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/ballast-outside-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void begin(struct world *w)
{
    world_begin(w, (struct fake_cluster_options){.folder = folder, .speed = 1, .seed = 7});
}

static void put(const char *name, const char *text)
{
    char path[160];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The file's text, cut at 4 KiB; "" where there is none. */
static const char *get(const char *name)
{
    static char text[4096];
    char path[160];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    if (f)
        (void)fclose(f);
    text[n] = '\0';
    return text;
}

static enum host_state state_of(struct world *w, const char *host)
{
    struct arena a = {0};
    struct inventory inv;
    struct snapshot s;

    look(w, &a, &inv, &s);
    uint32_t ix = snapshot_find_host(&s, host);

    assert_int_not_equal(ix, IX_NONE);
    enum host_state is = s.hosts[ix].is.state;

    arena_release(&a);
    return is;
}

/* The first host that runs a VM, and the VM. */
static void find_pair(struct world *w, char host[64], char vm[64])
{
    struct arena a = {0};
    struct inventory inv;
    struct snapshot s;

    look(w, &a, &inv, &s);
    for (uint32_t i = 0; i < s.n_vms; i++) {
        if (s.vms[i].is.state != VM_ON || s.vms[i].host == IX_NONE)
            continue;
        (void)snprintf(vm, 64, "%s", s.vms[i].is.id);
        (void)snprintf(host, 64, "%s", s.hosts[s.vms[i].host].is.id);
        break;
    }
    arena_release(&a);
}

static void test_switched_from_outside(void **state)
{
    struct world w;
    char host[64] = "", vm[64] = "", file[80];

    (void)state;
    begin(&w);
    find_pair(&w, host, vm);
    (void)snprintf(file, sizeof file, "power/%s", host);
    assert_string_equal(get(file), "1\n");

    put(file, "garbage");
    assert_int_equal(state_of(&w, host), HOST_ON);
    put(file, "0\n"); /* with VMs on it: they stop with it */
    assert_int_equal(state_of(&w, host), HOST_DISCONNECTED);
    assert_null(fake_cluster_where(w.p, vm));

    put(file, "1\n");
    w.now_s += 10;
    assert_int_equal(state_of(&w, host), HOST_DISCONNECTED); /* it boots */
    w.now_s += 3600;
    assert_int_equal(state_of(&w, host), HOST_ON);
    w.now_s += 60;
    assert_int_equal(state_of(&w, host), HOST_ON);
    assert_string_equal(fake_cluster_where(w.p, vm), host); /* and so do they */
    world_release(&w);
}

static void test_outlives_the_process(void **state)
{
    struct world w;
    char host[64] = "", vm[64] = "", file[80], load[160], line[160];

    (void)state;
    begin(&w);
    find_pair(&w, host, vm);
    (void)snprintf(line, sizeof line, "%s %s\n", vm, host);
    assert_non_null(strstr(get("placement"), line));
    world_release(&w);

    /* it has moved to another host, says the file, and its first one is off */
    char other[64] = "";
    struct arena a = {0};
    struct inventory inv;
    struct snapshot s;

    begin(&w);
    look(&w, &a, &inv, &s);
    for (uint32_t i = 0; i < s.n_hosts && !*other; i++) {
        if (strcmp(s.hosts[i].is.id, host) != 0 && s.hosts[i].is.state == HOST_ON)
            (void)snprintf(other, sizeof other, "%s", s.hosts[i].is.id);
    }
    assert_string_not_equal(other, "");
    world_release(&w);
    (void)snprintf(line, sizeof line, "%s %s\nnobody %s\n%s\n", vm, other, host, host);
    put("placement", line);
    (void)snprintf(file, sizeof file, "power/%s", host);
    put(file, "0");
    begin(&w);
    assert_string_equal(fake_cluster_where(w.p, vm), other);
    assert_int_equal(state_of(&w, host), HOST_DISCONNECTED);

    /* what it wants, from outside */
    (void)snprintf(load, sizeof load, "%s 1234\nnobody 5\n%s -5\n%s\n", vm, vm, vm);
    put("load", load);
    arena_release(&a);
    a = (struct arena){0};
    look(&w, &a, &inv, &s);
    w.now_s += 600;
    arena_release(&a);
    a = (struct arena){0};
    look(&w, &a, &inv, &s);
    uint32_t ix = snapshot_find_vm(&s, vm);

    for (size_t i = 0; i < inv.n_vms; i++) {
        if (strcmp(inv.vms[i].is.id, vm) == 0)
            assert_true(inv.vms[i].sample.cpu_used_mhz > 1000 && inv.vms[i].sample.cpu_used_mhz < 1300);
    }
    assert_int_not_equal(ix, IX_NONE);
    arena_release(&a);
    world_release(&w);
}

static void empty(struct world *w, const char *host)
{
    struct arena a = {0};
    struct inventory inv;
    struct snapshot s;

    look(w, &a, &inv, &s);
    for (uint32_t i = 0; i < s.n_vms; i++) {
        if (s.vms[i].host != IX_NONE && strcmp(s.hosts[s.vms[i].host].is.id, host) == 0)
            assert_int_equal(fake_cluster_remove_vm(w->p, s.vms[i].is.id), 0);
    }
    arena_release(&a);
}

static void test_standby_of_the_hypervisor(void **state)
{
    struct world w;
    struct err err = {0};
    char task[TASK_NAME_MAX], host[64] = "", vm[64] = "", file[80];

    (void)state;
    begin(&w);
    find_pair(&w, host, vm);
    (void)snprintf(file, sizeof file, "power/%s", host);
    put(file, "0\n");
    assert_int_equal(state_of(&w, host), HOST_DISCONNECTED);
    put(file, "1\n");
    assert_int_equal(state_of(&w, host), HOST_DISCONNECTED);
    put(file, "0\n"); /* before it has booted */
    w.now_s += 3600;
    assert_int_equal(state_of(&w, host), HOST_DISCONNECTED);
    put(file, "1\n");
    w.now_s += 1;
    (void)state_of(&w, host);
    w.now_s += 3600;
    assert_int_equal(state_of(&w, host), HOST_ON);

    /* an empty host that its manager puts to standby: its chassis says so */
    empty(&w, host);
    const struct operation q = {.uid = "u", .kind = OPERATION_STANDBY, .host = host};

    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, &err), 0);
    w.now_s += 600;
    assert_int_equal(state_of(&w, host), HOST_STANDBY);
    assert_string_equal(get(file), "0\n");
    put(file, "1\n");
    (void)state_of(&w, host);
    w.now_s += 3600;
    assert_int_equal(state_of(&w, host), HOST_ON);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_switched_from_outside, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_outlives_the_process, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_standby_of_the_hypervisor, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
