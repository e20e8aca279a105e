/* energy_account.h: the energy account: what the hosts drew, what they would have drawn had none of them
 * slept, and what VMs lacked meanwhile.
 *
 * Each look at the cluster says what every host draws and what its VMs want (struct energy_sample;
 * host_power.c makes them). The account adds that up over the time between two looks, by host and hour; what
 * it has is put into the store with each look, as the sums so far of the hours that have changed, so that
 * storing it twice, or being killed between two looks, counts nothing twice.
 *
 * Between two looks a host draws
 *   what the later one says, where both found it in the same phase (what a hypervisor tells of a VM is the
 *   mean since the last look);
 *   half of the time each, where the phase changed at an unknown moment;
 *   unknown, where they are further apart than `longest_s`: that time is in no hour's span_s.
 * After a restart, what was drawn since the last stored look is what the first new one says; where a meter
 * was read before, the first new reading corrects that, and the time is not counted as measured.
 *
 * Figures of an hour, each a sum over the time that was accounted (struct energy_record):
 *   used_wh     what was drawn: by the host's meter where it was read, else by its model
 *   all_on_wh   what would have been drawn, had all hosts been on and shared the same work in proportion to
 *               their capacity. A host that is in maintenance or not seen would be so as well
 *   saved       all_on - used: what sleep has spared, boots and standby paid. Of a single host it may be
 *               negative: it does the work of those that sleep
 *   unknown_s   neither of the two is counted, as the host's power is unknown
 *   wanted      demand of the VMs on the host, each no more than its own limit, its part of its pools', and
 * its vCPUs unmet       what of that they did not get
 */
#ifndef BALLAST_ENGINE_KNOWLEDGE_ENERGY_ACCOUNT_H
#define BALLAST_ENGINE_KNOWLEDGE_ENERGY_ACCOUNT_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops energy_ops;

enum energy_phase { ENERGY_UNSEEN, ENERGY_AWAKE, ENERGY_ASLEEP, ENERGY_BOOTING };

/* A host at a look. */
struct energy_sample {
    const char *host; /* id; borrowed for the call */
    enum energy_phase phase;
    double watts;                               /* UNKNOWN */
    bool measured;                              /* by a meter */
    double all_on_w;                            /* UNKNOWN only if watts is */
    double wanted[RES_COUNT], unmet[RES_COUNT]; /* MHz, MiB */
};

/* What the hosts draw, and what VMs lack, as of the newest snapshot. */
const struct engine_power *energy_account_now(const struct energy *x);

/* What this process added for all hosts together: the sums of struct energy_record, `host` apart. */
const struct energy_record *energy_account_total(const struct energy *x);

/* The host at the newest look of this process that showed it; its `host` is NULL. False: no look did. */
bool energy_account_last_sample(const struct energy *x, const char *host, struct energy_sample *ret);

/* All hosts that a look has shown. A look that is no later than the last one adds no time. */
void energy_account_add_samples(struct energy *x, const struct energy_sample *samples, size_t n,
                                instant_s now, instant_s longest_s);

/* What a meter reads of what the model says, a moving average over the time that the host was on; UNKNOWN:
 * never read. energy_account_learn_scale() takes a newer one into account. */
double energy_account_scale(const struct energy *x, const char *host);
void energy_account_learn_scale(struct energy *x, const char *host, double scale, instant_s now);

/* Adds what is summed of `r`. */
void energy_account_add(struct energy_record *sum, const struct energy_record *r);

#endif
