/* place_service.h: `place` without a snapshot: VMs of the service's cluster. */
#ifndef BALLAST_CLI_PLACE_SERVICE_H
#define BALLAST_CLI_PLACE_SERVICE_H

#include "cli/output.h"

/* Asks the service where these VMs (ids or names) would be powered on now, and with apply has them powered
 * on. Prints what the pure form prints, or with apply the actions that were begun. EXIT_FAILED with one line
 * on standard error, and the plan printed all the same, where a VM has no place; nothing is begun then. */
enum exit_code place_service(const char *socket, const char *const *vms, size_t n_vms, bool apply,
                             enum cli_format format, struct arena *a, struct strbuf *out);

#endif
