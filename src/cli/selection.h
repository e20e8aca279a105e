/* selection.h: the recommendations that `apply` and `reject` are for.
 *
 * The operands are numbers and ranges ("3", "4-9"); or --all, --host, --group and --priority select among the
 * service's current recommendations, all of them that are given at once. What the selected ones cannot do
 * without (the recommendations that they depend on, the other moves of their groups) is approved with them;
 * numbers that are given one by one are not completed, so that an approval is never for more than was typed.
 */
#ifndef BALLAST_CLI_SELECTION_H
#define BALLAST_CLI_SELECTION_H

#include "cli/client.h"

enum { SELECT_ALL, SELECT_HOST, SELECT_GROUP, SELECT_PRIORITY, SELECT_SOCKET, SELECT_FORMAT, SELECT_COUNT };
extern const struct option_spec selection_options[SELECT_COUNT];

/* Sends the command ("apply" or "reject") for the recommendations of the command line, and prints those
 * actions. EXIT_FAILED if an option or a range selects none. */
enum exit_code selection_tell(const struct args *args, const char *command, struct arena *a,
                              struct strbuf *out);

#endif
