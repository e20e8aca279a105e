/* policy_json.h: the settings of a pass as JSON, in snapshots, plans and reports: typed values, and those
 * with a dot in an object of their own ({"dpm": {"enabled": true}}). */
#ifndef BALLAST_MODEL_POLICY_JSON_H
#define BALLAST_MODEL_POLICY_JSON_H

#include "base/json_writer.h"
#include "schema/reader.h"

#include <ballast/policy.h>

/* All settings of the table. */
void policy_json_put(struct json_writer *w, const char *key, const struct policy *policy);

/* Reads into *ret, over the defaults: settings that are missing keep them. Unknown ones are noted, former
 * ones skipped; -EINVAL with the pointer of a value that is not possible. */
int policy_json_read(const struct reader *r, const struct node *n, struct policy *ret);

#endif
