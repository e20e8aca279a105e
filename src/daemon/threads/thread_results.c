/* thread_results.c: what becomes of news when it has been told. */
#include "daemon/threads/thread_results.h"

#include "base/job.h"

#include <stdlib.h>

void thread_results_free(struct queue_item *item)
{
    struct news *n = (struct news *)item;

    arena_release(&n->collected.arena);
    job_free(n->job);
    free(n);
}
