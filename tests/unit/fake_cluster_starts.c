/* VMs of the fake cluster that are off or suspended start as at a hypervisor. */
#include "fake_cluster_world.h"

#include "base/cleanup.h"

#include <errno.h>

static const struct {
    const char *vm, *to;
    enum fake_cluster_fault fault;
    int start;
    enum task_state at_end;
} starts[] = {
    {"b", "h2", FAKE_CLUSTER_OBEYS, 0, TASK_SUCCEEDED}, /* registered at h1 */
    {"b", "h1", FAKE_CLUSTER_OBEYS, 0, TASK_SUCCEEDED},
    {"c", "h2", FAKE_CLUSTER_OBEYS, 0, TASK_SUCCEEDED}, /* suspended, registered nowhere */
    {"b", "h2", FAKE_CLUSTER_FAILS, 0, TASK_FAILED},
    {"b", "h2", FAKE_CLUSTER_HANGS, 0, TASK_RUNNING},
    {"b", "h2", FAKE_CLUSTER_REFUSES, -EPERM, TASK_FAILED},
    {"a", "h1", FAKE_CLUSTER_OBEYS, -ESTALE, TASK_FAILED}, /* runs there */
    {"a", "h2", FAKE_CLUSTER_OBEYS, -ESTALE, TASK_FAILED}, /* runs elsewhere */
    {"b", "h3", FAKE_CLUSTER_OBEYS, -EHOSTDOWN, TASK_FAILED},
    {"none", "h2", FAKE_CLUSTER_OBEYS, -ENOENT, TASK_FAILED},
};

static void test_starts(void **state)
{
    char path[] = "/tmp/ballast-simulated-XXXXXX";
    CLEANUP(closep) int fd = write_cluster(path);

    (void)state;
    for (size_t i = 0; i < ELEMENTS(starts); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct world w;
        struct inventory inv;
        struct snapshot s;
        char task[TASK_NAME_MAX], again[TASK_NAME_MAX];
        struct operation q = {
            .uid = "u", .kind = OPERATION_POWER_ON_VM, .vm = starts[i].vm, .to = starts[i].to};

        world_init(&w, path);
        (void)fake_cluster_set_fault(w.p, starts[i].vm, starts[i].fault);
        assert_int_equal(fake_cluster_actuator.check(w.x, &q, NULL), starts[i].start);
        assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), starts[i].start);
        if (starts[i].start == 0) {
            assert_int_equal(fake_cluster_actuator.start(w.x, &q, again, NULL), 0);
            assert_string_equal(task, again); /* adopted, not begun twice */
            assert_int_equal(progress_of(&w, &q, task).state, TASK_RUNNING);
            w.now_s = 100;
            assert_int_equal(progress_of(&w, &q, task).state, starts[i].at_end);
            look(&w, &a, &inv, &s);
            const struct vm *v = &s.vms[snapshot_find_vm(&s, starts[i].vm)];
            bool runs = starts[i].at_end == TASK_SUCCEEDED;

            assert_int_equal(v->is.state == VM_ON, runs);
            if (runs) {
                assert_string_equal(s.hosts[v->host].is.id, starts[i].to);
                assert_true(inv.vms[snapshot_find_vm(&s, starts[i].vm)].sample.cpu_used_mhz > 0);
            }
        }
        world_release(&w);
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
