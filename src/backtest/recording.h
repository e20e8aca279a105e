/* recording.h: what a service recorded of a time: the cluster at its beginning, what the VMs wanted, and what
 * happened. Read from a store, also while a service has it open.
 *
 * All is in the arena of the reading. Figures that are not known are UNKNOWN. */
#ifndef BALLAST_BACKTEST_RECORDING_H
#define BALLAST_BACKTEST_RECORDING_H

#include "base/strbuf.h"
#include "store/sqlite.h"

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/snapshot.h>

/* A VM with figures. */
struct recorded_vm {
    const char *id;
    instant_s first, last; /* its figures tell of this time; 0 and 0: it has none */
};

/* A host entered maintenance, or left it. */
struct recorded_maintenance {
    instant_s time;
    const char *host;
    bool enter;
};

/* What really happened, to be held against a simulation with the settings in force. */
struct recorded_figures {
    uint32_t migrations, migrations_failed;
    uint32_t by_people;    /* of the migrations, those that a person approved */
    double gb_moved;       /* GiB of host memory of the VMs that were moved */
    double kwh, kwh_known; /* kwh_known: the part of the time of which the power was known, 0 to 1 */
    double hosts_on_mean;
    double imbalance_mean; /* before each pass, weighted by the time until the next */
    double time_above_target_s;
    double score; /* percent: CPU that VMs got of what they wanted and were entitled to */
    uint32_t host_power_offs, host_power_ons;
};

struct recording {
    instant_s from, until;
    uint64_t pass;             /* whose snapshot is the beginning */
    const char *snapshot_text; /* ballast-snapshot/1 */
    const struct snapshot *snapshot;
    const struct snapshot *newest; /* of the newest pass: facts of VMs that came later; NULL: unknown */
    const char *samples;           /* time,vm,cpu_mhz,mem_mb of all VMs */
    size_t samples_len;
    const struct recorded_vm *vms; /* by id */
    size_t n_vms;
    const struct recorded_maintenance *maintenance; /* by time */
    size_t n_maintenance;
    struct recorded_figures real;
    double unseen_s;  /* of the time, of which nothing was recorded */
    double means_s;   /* of the time, of which there are means, but no looks, or too many */
    instant_s look_s; /* the usual time from look to look; 0: not known, only means are left */
    /* what a simulation does not repeat */
    uint32_t settings_changes, host_losses, power_by_people;
    uint32_t times_off; /* that VMs were powered off, and on again */
    bool was_paused;
};

/* Reads what is recorded from the pass nearest to `since` on, until the last look before `now`. -ENOENT and a
 * sentence: no pass with its snapshot is kept from then on, or no demand. -EFBIG: too much; else the store's
 * error. */
int recording_read(struct store *s, instant_s since, instant_s now, struct arena *a, struct recording *ret,
                   struct err *err);

/* The VM's record, or NULL. */
const struct recorded_vm *recording_find_vm(const struct recording *r, const char *id);

#endif
