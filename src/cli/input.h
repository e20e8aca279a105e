/* input.h: what the verbs that decide read. What is wrong is said on standard error, in one line. */
#ifndef BALLAST_CLI_INPUT_H
#define BALLAST_CLI_INPUT_H

#include "cli/verb.h"
#include "model/vms_json.h"

#include <ballast/policy.h>
#include <ballast/snapshot.h>

/* Reads and freezes the snapshot; unknown fields are warned about, once it is known to be good. */
enum exit_code cli_snapshot(const char *path, struct arena *a, struct snapshot *ret);

/* Reads the VMs that are to be placed, and adds the new ones to the cluster; what was ignored is warned
 * about.
 */
enum exit_code cli_vms(const char *path, const struct snapshot *cluster, struct arena *a,
                       struct vms_to_place *ret);

/* The defaults, then the configuration (NULL: none), then each KEY=VALUE. */
enum exit_code cli_policy(const char *config_path, const struct option_values *sets, struct arena *a,
                          struct policy *ret);

/* A whole number within a range; `option` is named in the complaint. */
enum exit_code cli_number(const char *option, const char *text, unsigned long long most,
                          unsigned long long *ret);

/* An instant in one of the forms of schedule/when.h. */
enum exit_code cli_when(const char *option, const char *text, instant_s *ret);

/* A clock that only goes forward, for the time that deciding took. */
int64_t cli_now_us(void);

#endif
