/* decide.h: a question about a snapshot (decision.h): answered here from a file, or by the service from its
 * last snapshot. With --config the settings are this machine's, so the service is asked for its snapshot, for
 * which it wants the role admin. */
#ifndef BALLAST_CLI_DECIDE_H
#define BALLAST_CLI_DECIDE_H

#include "cli/input.h"
#include "cli/output.h"
#include "decision/decision.h"

/* Answers and prints. The question's settings are those of paths->sets. pass: of DECISION_PLAN, the past pass
 * of the service to be made again; 0: none. */
enum exit_code cli_decide(const struct args *args, const struct cluster_paths *paths,
                          const struct decision_question *question, unsigned long long pass, struct arena *a,
                          struct strbuf *out);

#endif
