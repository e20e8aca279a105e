/* run_tasks.h: runs functions that wait for peers side by side, each within its own time.
 *
 * A task that does not end in time is given up: its thread goes on, and everything that it may write must
 * stay allocated. The caller ends the process without waiting for it (_exit()). */
#ifndef BALLAST_PREFLIGHT_RUN_TASKS_H
#define BALLAST_PREFLIGHT_RUN_TASKS_H

#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct preflight_task {
    void (*run)(void *ctx);
    void *ctx;       /* belongs to the thread until done */
    unsigned most_s; /* given up after so long */
    bool done;       /* result */
};

/* Returns when each task is done or given up. -EAGAIN: no thread could be started. The tasks are
 * copied while they run: those given up may go on. */
int run_tasks(struct preflight_task *tasks, size_t n, struct err *err);

#endif
