/* place_service.h: `ballast place` without a snapshot, for VMs of the service's cluster. */
#ifndef BALLAST_CLI_PLACE_SERVICE_H
#define BALLAST_CLI_PLACE_SERVICE_H

#include "cli/verb.h"

/* Asks the service for hosts for the operands, VMs by their ids or names; with apply, powers them on. Prints
 * the plan, or with apply the started actions. If a VM has no host, nothing is started: the plan is printed,
 * one line goes to standard error, and the result is EXIT_FAILED. */
enum exit_code place_service(const struct args *args, bool apply, struct arena *a, struct strbuf *out);

#endif
