/* history_energy.h: `ballast history --energy`, the energy used and saved. */
#ifndef BALLAST_CLI_HISTORY_ENERGY_H
#define BALLAST_CLI_HISTORY_ENERGY_H

#include "cli/verb.h"

/* The values of the options; NULL: not given. */
struct energy_question {
    const char *since, *days, *by;
};

enum exit_code history_energy(const struct args *args, const struct energy_question *q, struct arena *a,
                              struct strbuf *out);

#endif
