/* backtest.h: a recording as a scenario of the simulator, and what the simulation does not repeat of it; how
 * well the simulation agrees with what really happened. */
#ifndef BALLAST_BACKTEST_BACKTEST_H
#define BALLAST_BACKTEST_BACKTEST_H

#include "backtest/recording.h"
#include "schedule/schedule.h"
#include "sim/report/report.h"

/* Sentences. A zeroed struct is empty. */
struct backtest_notes {
    const char **items;
    size_t n, cap;
};

/* The names of the texts that the scenario reads. */
#define BACKTEST_SCENARIO "backtest.yaml"
#define BACKTEST_SNAPSHOT "snapshot.json"
#define BACKTEST_SAMPLES "samples.csv"

/* Writes the scenario: the snapshot, its settings, what VMs wanted, VMs that came and went, hosts in
 * maintenance. schedule: the service's; NULL: not known, then there is none. Adds what is not repeated to the
 * notes. */
void backtest_scenario(const struct recording *r, const struct schedule *schedule, struct arena *a,
                       struct strbuf *out, struct backtest_notes *notes);

/* What really happened beside the simulation with the settings in force, and the notes. */
void backtest_text(const struct recording *r, const struct simulation *s, const struct backtest_notes *notes,
                   struct arena *a, struct strbuf *out);

/* ballast-backtest/1. b: with other settings; NULL: none. */
void backtest_json(const struct recording *r, const struct run_set *a, const struct run_set *b,
                   const struct backtest_notes *notes, struct strbuf *out);

#endif
