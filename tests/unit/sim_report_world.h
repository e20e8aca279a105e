/* sim_report_world.h: for the tests of reports: a simulation made by hand, with plausible curves of a day
 * and round metrics. */
#ifndef BALLAST_TESTS_SIM_REPORT_WORLD_H
#define BALLAST_TESTS_SIM_REPORT_WORLD_H

#include "sim/run/simulate.h"

struct report_world {
    uint32_t hosts, pools;
    size_t points; /* of the series, 60 s apart; 0: none was asked for */
    bool power;    /* hosts have a power model, and sleep at night */
    bool wild;     /* names with everything in them that must be escaped */
    double scale;  /* of the metrics */
    uint64_t seed;
};

void report_world_make(const struct report_world *w, struct arena *a, struct simulation *ret);

#endif
