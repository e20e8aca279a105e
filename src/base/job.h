/* job.h: what every user of actuators does with a job: copies it for the thread that carries it out, and
 * calls the actuator's function that it is for. */
#ifndef BALLAST_BASE_JOB_H
#define BALLAST_BASE_JOB_H

#include <ballast/actuator.h>

/* A copy with strings and settings of its own. */
struct job *job_copy(const struct job *job);
void job_free(struct job *job); /* NULL is fine */

/* Calls the function of the actuator that the job is for. -ENOTSUP: it has none. */
void job_run(const struct actuator_ops *ops, struct actuator *x, const struct job *job,
             struct job_result *ret);

#endif
