/* External units as processes: what they are asked and what is taken of their answers; units that hang, end,
 * answer nonsense, too much, or about others; and their restart. */
#include "unit.h"

#include "base/clock.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "units/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT 1767229200
#define BEGIN                                                                                                \
    "import json, os, sys, time\n"                                                                           \
    "def say(**m): print(json.dumps(m), flush=True)\n"                                                       \
    "for line in sys.stdin:\n"                                                                               \
    "  m = json.loads(line)\n"                                                                               \
    "  if 'snapshot' in m:\n"                                                                                \
    "    hosts = [h['id'] for h in m['snapshot']['hosts']]; continue\n"                                      \
    "  i, vms = m['id'], m['vms']\n"
#define ALL "  say(id=i, answers=[{'vms': vms, 'hosts': hosts}])\n"

/* Hosts h1 to h3, so many VMs; every stage names a unit. */
static void make(unsigned n_vms, const char *const *units, struct arena *a, struct snapshot *ret)
{
    const char *text = arena_printf(
        a,
        "{\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\",\"time\":\"2026-01-01T01:00:00Z\",\"hosts\":[");
    struct inventory inv;
    struct err err = {0};

    for (unsigned i = 1; i <= 3; i++)
        text = arena_printf(
            a, "%s%s{\"id\":\"h%u\",\"state\":\"on\",\"cpu_mhz\":8000,\"cores\":4,\"mem_mb\":4096}", text,
            i > 1 ? "," : "", i);
    text = arena_printf(a, "%s],\"vms\":[", text);
    for (unsigned i = 0; i < n_vms; i++)
        text =
            arena_printf(a,
                         "%s%s{\"id\":\"v%03u\",\"host\":\"h1\",\"state\":\"on\",\"vcpus\":1,\"mem_mb\":64,"
                         "\"pipeline\":\"p\"}",
                         text, i > 0 ? "," : "", i);
    text = arena_printf(a, "%s],\"pipelines\":[{\"name\":\"p\",\"stages\":[", text);
    for (unsigned i = 0; units[i]; i++)
        text = arena_printf(a, "%s%s{\"name\":\"s%u\",\"external\":\"%s\",\"filter\":\"$answer\"}", text,
                            i > 0 ? "," : "", i, units[i]);
    text = arena_printf(a, "%s]}]}", text);
    if (snapshot_read_inventory(text, strlen(text), a, &inv, NULL, &err) < 0 ||
        snapshot_build(&inv, a, ret, &err) < 0)
        fail_msg("%s", err.text);
}

/* Asks; the snapshot must take the answers, and have one of each unit about each VM. */
static void ask(struct units *u, struct snapshot *s, unsigned n_units, struct arena *a)
{
    struct inventory inv = {0};
    struct err err = {0};

    s->answers = NULL;
    s->n_answers = 0;
    for (uint32_t i = 0; i < s->n_vms; i++)
        s->vms[i].n_answers = 0;
    units_ask(u, s, AT, a, &inv);
    if (snapshot_build_answers(&inv, a, s, &err) < 0)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < s->n_vms; i++)
        assert_int_equal(s->vms[i].n_answers, n_units);
    for (uint32_t i = 0; i < s->n_answers; i++)
        assert_int_equal(s->answers[i].at, AT);
}

/* The error of the only unit about the first VM; NULL: it has answered. */
static const char *error_of(const struct snapshot *s)
{
    return s->vms[0].answers[0]->error;
}

static struct unit_config python(const char *name, const char *script, int64_t timeout_s, struct arena *a)
{
    const char **command = arena_array(a, const char *, 5);

    command[0] = "/usr/bin/python3";
    command[1] = "-S";
    command[2] = "-c";
    command[3] = script;
    return (struct unit_config){.name = name, .command = command, .timeout_s = timeout_s};
}

static const char *const one_unit[] = {"u", NULL};

static const struct {
    const char *script, *error;
} failures[] = {
    {BEGIN "  time.sleep(60)\n", "no answer within 2 s"},
    {"import time\ntime.sleep(60)\n", "no answer within 2 s"}, /* it does not even read */
    {BEGIN "  print('no licence', file=sys.stderr); sys.exit(3)\n", "it ended with exit code 3: no licence"},
    {BEGIN "  os.kill(os.getpid(), 11)\n", "it was ended by signal 11"},
    {BEGIN "  os.close(1); os.close(0); time.sleep(60)\n", "it closed its standard output"},
    {"import sys\nsys.exit(0)\n", "it ended with exit code 0"},
    {BEGIN "  print('nonsense', flush=True)\n", "its answer is wrong: /: line 1, column 2: "},
    {BEGIN "  print('{}', flush=True)\n",
     "its answer is wrong: /: an object, expected an object with the id"},
    {BEGIN "  print('[' * 100000, flush=True)\n", "its answer is wrong: /"},
    {BEGIN "  say(id=i + 1, answers=[])\n", "its answer is wrong: /id: 2, expected the id of the question"},
    {BEGIN "  say(id=str(i), answers=[])\n",
     "its answer is wrong: /: an object, expected an object with the id"},
    {BEGIN "  say(id=i)\n", "its answer is wrong: /: an object, expected answers, or an error"},
    {BEGIN "  say(id=i, answers={})\n",
     "its answer is wrong: /answers: an object, expected a list of answers"},
    {BEGIN "  say(id=i, answers=[{'vms': vms, 'hosts': ['h1', 'h9']}])\n",
     "its answer is wrong: /answers/0: about the host \"h9\", which is not there"},
    {BEGIN "  say(id=i, answers=[{'vms': vms, 'hosts': ['h1', 'h1']}])\n",
     "its answer is wrong: /answers/0: about the host \"h1\" twice"},
    {BEGIN "  say(id=i, answers=[{'vms': ['v999'], 'hosts': ['h1']}])\n",
     "its answer is wrong: /answers/0: about the VM \"v999\", which was not asked about"},
    {BEGIN "  say(id=i, answers=[{'vms': vms + vms, 'hosts': ['h1']}])\n",
     "its answer is wrong: /answers/0: about the VM \"v000\" twice"},
    {BEGIN "  say(id=i, answers=[{'vms': vms, 'hosts': ['h1'], 'scores': [1, 2]}])\n",
     "its answer is wrong: /answers/0: scores that are not as many as hosts"},
    {BEGIN "  say(id=i, answers=[{'vms': vms, 'hosts': ['h1'], 'scores': ['1']}])\n",
     "its answer is wrong: /answers/0/scores/0: \"1\", expected a number"},
    {BEGIN "  say(id=i, answers=[{'vms': vms}])\n",
     "its answer is wrong: /answers/0: neither hosts nor an error"},
    {BEGIN "  [say(id=0, answers=[]) for _ in range(1000000)]\n",
     "it wrote more than 4096 lines that answer no question"},
    {BEGIN "  [sys.stdout.write('x' * 1000000) for _ in range(1000)]\n",
     "a line of its answer has more than 64 MiB"},
    {BEGIN "  [print('z' * 10000, file=sys.stderr) for _ in range(1000)]; time.sleep(60)\n",
     "no answer within 2 s"},
    {"import sys\nsys.stdout.write('{\"id\": 1, \"answers\": []}\\n'); sys.stdout.flush()\n"
     "import time\ntime.sleep(60)\n",
     "it answered before it had read the question"},
};

/* Each fails in its time, with its reason, and no process is left. */
static void test_failures(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(failures); i++) {
        struct arena a = {0};
        struct snapshot s;
        const struct unit_config c = python("u", failures[i].script, 2, &a);
        struct units *u = units_new(&c, 1, NULL);
        int64_t begun = clock_us(CLOCK_MONOTONIC);

        /* the last one is sent more than fits into a socket */
        make(i + 1 == ELEMENTS(failures) ? 9999 / 10 : 3, one_unit, &a, &s);
        if (i + 1 == ELEMENTS(failures))
            for (uint32_t v = 0; v < s.n_vms; v++)
                s.vms[v].is.name = arena_printf(&a, "%01000u", v);
        ask(u, &s, 1, &a);
        if (!error_of(&s) || strncmp(error_of(&s), failures[i].error, strlen(failures[i].error)) != 0)
            fail_msg("%s: %s, expected %s", failures[i].script, error_of(&s), failures[i].error);
        assert_true(clock_us(CLOCK_MONOTONIC) - begun < 20000000);
        units_free(u);
        arena_release(&a);
    }
}

/* Some VMs are answered about, some not; late answers of an earlier question do no harm. */
static void test_answers(void **state)
{
    static const char script[] = BEGIN
        "  for k in range(i): say(id=k, answers=[{'vms': ['x'], 'hosts': ['y']}])\n"
        "  say(id=i, answers=[{'vms': vms[:1], 'hosts': ['h3', 'h1'], 'words': 'a\\nb\\x1b' + 'c' * 1000},\n"
        "    {'vms': vms[1:2], 'hosts': ['h2'], 'scores': [2.5], 'multipliers': [3]},\n"
        "    {'vms': vms[2:3], 'error': 'no idea'}])\n";
    struct arena a = {0};
    struct snapshot s;
    const struct unit_config c = python("u", script, 20, &a);
    struct units *u = units_new(&c, 1, NULL);

    (void)state;
    make(4, one_unit, &a, &s);
    for (int round = 0; round < 3; round++) {
        ask(u, &s, 1, &a);
        const struct unit_answer *x = s.vms[0].answers[0];

        assert_true(x->kept && x->kept[0] == 5);
        assert_true(strncmp(x->words, "a b ccc", 7) == 0 && strlen(x->words) == 512);
        x = s.vms[1].answers[0];
        assert_true(!x->kept && isnan(x->scores[0]) && x->scores[1] == 2.5 && x->multipliers[1] == 3);
        assert_string_equal(s.vms[2].answers[0]->error, "no idea");
        assert_string_equal(s.vms[3].answers[0]->error, "it said nothing about this VM");
    }
    units_free(u);
    arena_release(&a);
}

/* Many VMs come in several lines; what was answered before the unit fails counts. */
static void test_batches(void **state)
{
    static const char script[] = BEGIN "  if 'v250' in vms: sys.exit(5)\n" ALL;
    struct arena a = {0};
    struct snapshot s;
    const struct unit_config c = python("u", script, 20, &a);
    struct units *u = units_new(&c, 1, NULL);
    unsigned answered = 0;

    (void)state;
    make(450, one_unit, &a, &s);
    ask(u, &s, 1, &a);
    for (uint32_t i = 0; i < s.n_vms; i++)
        answered += s.vms[i].answers[0]->error == NULL;
    assert_int_equal(answered, 200);
    assert_null(s.vms[199].answers[0]->error);
    assert_string_equal(s.vms[200].answers[0]->error, "it ended with exit code 5");
    assert_string_equal(s.vms[449].answers[0]->error, "it ended with exit code 5");
    units_free(u);
    arena_release(&a);
}

/* One that fails is started again, not at once; then it works. */
static void test_restart(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    char mark[] = "/tmp/ballast-unit-XXXXXX";
    int fd = mkstemp(mark);
    const char *script =
        arena_printf(&a, BEGIN "  if os.path.exists('%s'): os.remove('%s'); sys.exit(1)\n" ALL, mark, mark);
    const struct unit_config c = python("u", script, 20, &a);
    struct units *u = units_new(&c, 1, NULL);

    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    make(3, one_unit, &a, &s);
    ask(u, &s, 1, &a);
    assert_string_equal(error_of(&s), "it ended with exit code 1");
    ask(u, &s, 1, &a); /* at once: it is not started */
    assert_string_equal(error_of(&s), "it ended with exit code 1");
    (void)usleep(1100000);
    ask(u, &s, 1, &a);
    assert_null(error_of(&s));
    ask(u, &s, 1, &a); /* by the same process */
    assert_null(error_of(&s));
    units_free(u);
    arena_release(&a);
}

/* One that hangs holds up no other; a unit that is not configured, or is no program, has an error. */
static void test_several(void **state)
{
    static const char *const names[] = {"slow", "quick", "missing", "nothing", NULL};
    static const char *const nothing[] = {"/nonexistent", NULL};
    struct arena a = {0};
    struct snapshot s;
    const struct unit_config list[] = {python("slow", BEGIN "  time.sleep(60)\n", 2, &a),
                                       python("quick", BEGIN ALL, 20, &a),
                                       {.name = "nothing", .command = nothing, .timeout_s = 2}};
    struct units *u = units_new(list, 3, NULL);

    (void)state;
    make(3, names, &a, &s);
    ask(u, &s, 4, &a);
    for (uint32_t i = 0; i < 4; i++) {
        const struct unit_answer *x = s.vms[0].answers[i];
        const char *expected = strcmp(x->unit, "slow") == 0      ? "no answer within 2 s"
                               : strcmp(x->unit, "missing") == 0 ? "the configuration has no such unit"
                               : strcmp(x->unit, "nothing") == 0
                                   ? "/nonexistent cannot be started: No such file or directory"
                                   : NULL;

        if (expected)
            assert_string_equal(x->error, expected);
        else
            assert_null(x->error);
    }
    units_free(u);
    ask(NULL, &s, 4, &a);
    assert_string_equal(error_of(&s), "the configuration has no such unit");
    arena_release(&a);
}

/* The service does not wait for a unit when it stops. */
static void test_stop(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    const struct unit_config c = python("u", "import time\ntime.sleep(600)\n", 60, &a);
    atomic_bool stop = true;
    struct units *u = units_new(&c, 1, &stop);
    int64_t begun = clock_us(CLOCK_MONOTONIC);

    (void)state;
    make(3, one_unit, &a, &s);
    ask(u, &s, 1, &a);
    assert_string_equal(error_of(&s), "the service stops");
    assert_true(clock_us(CLOCK_MONOTONIC) - begun < 10000000);
    units_free(u);
    arena_release(&a);
}

static bool runs(long pid)
{
    char path[64];
    char stat[256] = "";

    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "r");
    bool ret = f && fgets(stat, sizeof stat, f) && !strstr(stat, ") Z ");

    if (f)
        (void)fclose(f);
    return ret;
}

/* What a unit has started ends with it. */
static void test_its_children(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    char pid_file[] = "/tmp/ballast-unit-XXXXXX";
    int fd = mkstemp(pid_file);
    const char *script = arena_printf(&a,
                                      "import subprocess, time\n"
                                      "p = subprocess.Popen(['/bin/sleep', '600'])\n"
                                      "open('%s', 'w').write(str(p.pid))\n"
                                      "time.sleep(600)\n",
                                      pid_file);
    const struct unit_config c = python("u", script, 5, &a);
    struct units *u = units_new(&c, 1, NULL);
    char text[32] = "";

    (void)state;
    assert_true(fd >= 0);
    make(3, one_unit, &a, &s);
    ask(u, &s, 1, &a);
    assert_string_equal(error_of(&s), "no answer within 5 s");
    assert_true(read(fd, text, sizeof text - 1) > 0);
    for (int i = 0; i < 100 && runs(strtol(text, NULL, 10)); i++)
        (void)usleep(10000);
    assert_false(runs(strtol(text, NULL, 10)));
    units_free(u);
    (void)close(fd);
    (void)unlink(pid_file);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures),     cmocka_unit_test(test_answers), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_restart),      cmocka_unit_test(test_several), cmocka_unit_test(test_stop),
        cmocka_unit_test(test_its_children),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
