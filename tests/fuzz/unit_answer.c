/* A line of an external unit about four VMs on three hosts: what is taken of it is an answer about each VM,
 * and a snapshot takes it. */
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "units/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOST(id) "{\"id\":\"" id "\",\"state\":\"on\",\"cpu_mhz\":8000,\"cores\":4,\"mem_mb\":4096}"
#define VM(id) "{\"id\":\"" id "\",\"host\":\"h1\",\"state\":\"on\",\"vcpus\":1,\"mem_mb\":64}"

static void check(const struct snapshot *s, struct seen_answer *answers, size_t n, struct arena *a)
{
    struct snapshot with = *s;
    struct inventory inv = {.answers = answers, .n_answers = n};
    struct err err = {0};

    for (size_t i = 0; i < n; i++) {
        answers[i].unit = "u";
        answers[i].at = s->time;
        if ((answers[i].words && strlen(answers[i].words) > UNIT_WORDS_MAX) ||
            (answers[i].error && strlen(answers[i].error) > UNIT_WORDS_MAX))
            abort();
    }
    if (snapshot_build_answers(&inv, a, &with, &err) < 0)
        abort();
    for (uint32_t i = 0; i < with.n_vms; i++)
        if (with.vms[i].n_answers != 1)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] =
        "{\"format\":\"ballast-snapshot/"
        "1\",\"cluster\":\"c\",\"time\":\"2026-01-01T01:00:00Z\",\"hosts\":[" HOST("h1") "," HOST(
            "h2") "," HOST("h3") "],\"vms\":[" VM("a") "," VM("b") "," VM("c") "," VM("d") "]}";
    static const uint32_t vms[] = {0, 1, 2, 3};
    static const struct batch batch = {.id = 7, .vms = vms, .n = 4};
    struct arena a = {0};
    struct inventory inv;
    struct snapshot s;
    struct err err = {0};
    struct seen_answer *answers = NULL;
    size_t n = 0;

    if (snapshot_read_inventory(text, sizeof text - 1, &a, &inv, NULL, &err) < 0 ||
        snapshot_build(&inv, &a, &s, &err) < 0)
        abort();
    int r = answer_read((const char *)data, size, &s, &batch, &a, &answers, &n, &err);

    if (r == 0)
        check(&s, answers, n, &a);
    else if (r != -EALREADY && (r != -EINVAL || !err.text[0]))
        abort();
    arena_release(&a);
    return 0;
}
