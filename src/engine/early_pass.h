/* early_pass.h: passes that do not wait for their interval to end. */
#ifndef BALLAST_ENGINE_EARLY_PASS_H
#define BALLAST_ENGINE_EARLY_PASS_H

#include <ballast/units.h>

#include <stdbool.h>

struct engine;

/* Why the newest inventory calls for a pass now, as pass_record.trigger has it; NULL: it does not.
 *
 * "overload": VMs want more than there is on a host that had enough at the last pass; one that stays short is
 * no news. Or rules by labels, which the last pass lacked, can be read.
 *
 * "change": the source reported a change (source_poll_changed()), and since the last pass, by no action of
 * this service, a VM was started or stopped, a VM that a rule names went to another host, or a host came or
 * went.
 *
 * After an early pass the next one comes when it is due, so that neither restless demand nor a busy cluster
 * makes a pass of every look. A host that came or went has a pass all the same, EARLY_PASS_HOST_GAP_S after
 * the last one at the earliest, and not before a second inventory shows the same: a manager that restarts is
 * back by then, and no host is woken in place of its own. */
const char *early_pass_trigger(struct engine *e, instant_s now);

#define EARLY_PASS_HOST_GAP_S 60 /* between two passes, the second because of a host */

#endif
