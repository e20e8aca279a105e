/* override.h: `--set PATH=VALUE`, applied to the tree of a file before it is read. Inside scenario only.
 *
 * A path is the keys from the top, with dots between them: duration_s, settings.dpm.enabled,
 * workload.dir. An entry of a list is meant by its number, from 0, or by its `name`: vms.web.count. A setting
 * of the policy by itself means the one below `settings`, as with the other verbs, unless the scenario has a
 * key of that name. What is not there yet is added; whether it is known is found out by the reading. The
 * value is YAML.
 */
#ifndef BALLAST_SIM_SCENARIO_OVERRIDE_H
#define BALLAST_SIM_SCENARIO_OVERRIDE_H

#include "sim/scenario/build.h"

/* top: the keys of the scenario itself. */
int override_apply(struct building *b, const struct schema *top, struct node *root);

/* "FILE:LINE", or "--set PATH" for what an override gave. */
const char *override_place(const struct reader *r, unsigned line);

#endif
