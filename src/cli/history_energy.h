/* history_energy.h: `ballast history --energy`, the energy used and saved. */
#ifndef BALLAST_CLI_HISTORY_ENERGY_H
#define BALLAST_CLI_HISTORY_ENERGY_H

#include "cli/output.h"
#include "cli/verb.h"

/* The values of the options; NULL: not given. */
struct energy_question {
    const char *socket;
    const char *since, *days, *by;
};

enum exit_code history_energy(const struct energy_question *q, enum cli_format format, struct arena *a,
                              struct strbuf *out);

#endif
