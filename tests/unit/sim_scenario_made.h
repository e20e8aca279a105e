/* sim_scenario_made.h: scenarios of a few lines, for the tests of the run loop. */
#ifndef BALLAST_TESTS_SIM_SCENARIO_MADE_H
#define BALLAST_TESTS_SIM_SCENARIO_MADE_H

#include "sim/scenario/scenario.h"

#include <ballast/arena.h>

#define SIM_START 1700000000
#define SIM_CORE_MHZ 2500
#define SIM_HOST_MHZ 10000 /* four cores */
#define SIM_HOST_MB 16384
#define SIM_VM_MB 1024

/* Hosts h00, h01, ... with four cores, 100 W to 200 W; VMs vm000, vm001, ... with one vCPU that always want
 * cpu_mhz and three quarters of their memory, and stand on the hosts in turn, or all of them on h00. Nothing
 * goes wrong; full automation at level 3, a pass every five minutes, an hour long. Everything may be changed
 * before the scenario is used; strings and arrays live in the arena. */
void sim_scenario_make(struct scenario *ret, uint32_t hosts, uint32_t vms, double cpu_mhz, bool on_one_host,
                       struct arena *a);

/* Appends one, by time. */
struct scripted_fault *sim_scenario_fault(struct scenario *s, struct arena *a, double at_s,
                                          enum sim_fault kind);
struct scripted_operation *sim_scenario_operation(struct scenario *s, struct arena *a, double at_s,
                                                  enum scripted_kind kind);

/* A workload that is constant. */
struct workload sim_constant(double level, double most);

/* The VM is not there from the beginning; its state in the initial snapshot is off. */
void sim_scenario_arrives(struct scenario *s, uint32_t vm, double arrives_s, double leaves_s);

#endif
