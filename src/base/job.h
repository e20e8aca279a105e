/* job.h: helpers for callers of actuators: copies a job for the thread that carries it out, and calls the
 * actuator's function for the job. */
#ifndef BALLAST_BASE_JOB_H
#define BALLAST_BASE_JOB_H

#include <ballast/actuator.h>

/* A copy that owns its strings and settings. */
struct job *job_copy(const struct job *job);
void job_free(struct job *job); /* NULL is fine */

/* Calls the actuator's function for the job. -ENOTSUP: the actuator has none. */
void job_run(const struct actuator_ops *ops, struct actuator *x, const struct job *job,
             struct job_result *ret);

#endif
