/* override.h: `--set PATH=VALUE`, applied to the tree of a file before it is read. Inside scenario only.
 *
 * A path is the keys from the top, separated by dots: duration_s, settings.dpm.enabled, workload.dir. An
 * entry of a list is given by its number, from 0, or by its `name`: vms.web.count. The name of a policy
 * setting alone means the key below `settings`, as in the other verbs, unless the scenario has a key of that
 * name. Missing keys are added; the reader refuses unknown keys. The value is YAML.
 */
#ifndef BALLAST_SIM_SCENARIO_OVERRIDE_H
#define BALLAST_SIM_SCENARIO_OVERRIDE_H

#include "sim/scenario/build.h"

/* top: the keys of the scenario itself. */
int override_apply(struct building *b, const struct schema *top, struct node *root);

/* "FILE:LINE", or "--set PATH" for a value from an override. */
const char *override_place(const struct reader *r, unsigned line);

#endif
