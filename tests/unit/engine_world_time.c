/* engine_world_time.c: advances the time second by second, and kills the process in one of them. */
#include "engine_world.h"

void w_answer_identity(const struct world_question *q)
{
    const struct job job = {.kind = JOB_IDENTIFY, .id = q->serial, .identify = {.host = q->host}};
    struct job_result r = {.code = W->identity_code, .identity = W->identity};

    (void)err_set(&r.err, r.code, "the controller is deaf");
    engine_on_job_result(W->engine, &job, &r, W->now);
}

/* A fault on the way is told once: with its first poll. */
void w_tell_methods(const struct operation *q, struct task_progress *ret)
{
    W->method = q->power.method;
    ret->may_have_woken = W->may_have_woken;
    ret->failed = W->method_failed;
    if (W->method_failed)
        (void)err_set(&ret->why, W->method_code, "the method failed");
    W->method_failed = 0;
}

void world_restart(void)
{
    engine_free(W->engine);
    W->engine = NULL;
    W->n_waiting = 0;
    for (int i = 0; W->jobs_survive && i < W->n_jobs; i++)
        (void)w_carry_out(&W->jobs[i]);
    for (int i = 0; W->jobs_survive && i < W->n_settings_jobs; i++)
        (void)w_carry_out_settings(&W->settings_jobs[i], NULL);
    W->n_jobs = W->n_settings_jobs = 0;
    W->asked = W->units_asked = 0;
    W->dead = false;
    W->crash_in = 0;
    W->in_transaction = false;
    world_begin_engine();
}

void world_second(void)
{
    W->now++;
    w_tasks_go_on();
    world_work();
    w_answer_units();
    world_answer();
    if (!W->dead)
        engine_tick(W->engine, W->now);
    world_work();
    world_answer();
}

void world_run(instant_s seconds)
{
    for (instant_s i = 0; i < seconds; i++)
        world_second();
}

bool world_killed(enum crash_mode mode, int at, int within_s)
{
    W->crash_in = at;
    W->crash_before_effect = mode == CRASH_BEFORE_EFFECT;
    W->jobs_survive = mode == CRASH_JOBS_SURVIVE;
    for (int s = 0; s < within_s && !W->dead; s++)
        world_second();
    bool died = W->dead;

    W->now += 3;
    w_tasks_go_on();
    world_restart();
    return died;
}
