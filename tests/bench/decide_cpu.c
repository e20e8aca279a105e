/* decide_cpu: the CPU time of a decision, for several snapshots in turn.
 *
 *     decide_cpu REPETITIONS SNAPSHOT...
 *
 * Prints a line for each snapshot: the least CPU time of all repetitions in ms, the same as a multiple of the
 * first snapshot's, and the number of recommendations and faults. Other processes make wall-clock time
 * useless and CPU time somewhat too long; the snapshots take turns, so that a slow moment affects all of
 * them.
 */
#include "core/pass.h"
#include "model/snapshot_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REPETITIONS_MAX 1000

struct candidate {
    const char *path;
    struct arena a;
    struct snapshot snap;
    double best_ms;
    uint32_t recommendations, faults;
};

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int decide(struct candidate *c, const struct policy *policy)
{
    struct arena a = {0};
    struct plan plan;
    struct err err = {0};
    double before = cpu_ms();
    int r = pass_run(&c->snap, policy, &a, &plan, &err);
    double ms = cpu_ms() - before;

    if (r < 0) {
        (void)fprintf(stderr, "%s: %s\n", c->path, err.text);
        return r;
    }
    c->best_ms = c->best_ms > 0 && c->best_ms < ms ? c->best_ms : ms;
    c->recommendations = plan.n_recommendations;
    c->faults = plan.n_faults;
    arena_release(&a);
    return 0;
}

static int load(struct candidate *c)
{
    struct err err = {0};
    int r = snapshot_load(c->path, &c->a, &c->snap, NULL, &err);

    if (r < 0)
        (void)fprintf(stderr, "%s\n", err.text);
    return r;
}

static int measure(struct candidate *candidates, int n, long repetitions)
{
    struct policy policy;

    policy_default(&policy);
    for (int i = 0; i < n; i++)
        if (load(&candidates[i]) < 0)
            return EXIT_FAILURE;
    for (long k = 0; k < repetitions; k++)
        for (int i = 0; i < n; i++)
            if (decide(&candidates[i], &policy) < 0)
                return EXIT_FAILURE;
    for (int i = 0; i < n; i++)
        (void)printf("%s %.2f %.3f %u %u\n", candidates[i].path, candidates[i].best_ms,
                     candidates[i].best_ms / candidates[0].best_ms, candidates[i].recommendations,
                     candidates[i].faults);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    long repetitions = argc > 2 ? strtol(argv[1], NULL, 10) : 0;

    if (repetitions < 1 || repetitions > REPETITIONS_MAX) {
        (void)fprintf(stderr, "decide_cpu REPETITIONS SNAPSHOT...\n");
        return EXIT_FAILURE;
    }
    int n = argc - 2;
    struct candidate *candidates = calloc((size_t)n, sizeof candidates[0]);
    if (!candidates)
        return EXIT_FAILURE;
    for (int i = 0; i < n; i++)
        candidates[i].path = argv[i + 2];
    int r = measure(candidates, n, repetitions);
    for (int i = 0; i < n; i++)
        arena_release(&candidates[i].a);
    free(candidates);
    return r;
}
