/* selection.h: the recommendations that `apply` and `reject` are for.
 *
 * The operands are numbers ("3", or "3.2" when the destination has changed since it was recommended) and
 * ranges
 * ("4-9"); or --all, --host, --group and --priority select among the
 * service's current recommendations, all of them that are given at once. What the selected ones cannot do
 * without (the recommendations that they depend on, the other moves of their groups) is approved with them;
 * numbers that are given one by one are not completed, so that an approval is never for more than was typed.
 *
 * An approval is for the destination that was read: what a range or an option selects is sent with the
 * versions of the list it was selected from, and on a terminal that list is shown and the approval is asked
 * for first.
 */
#ifndef BALLAST_CLI_SELECTION_H
#define BALLAST_CLI_SELECTION_H

#include "cli/client.h"

enum {
    SELECT_ALL,
    SELECT_HOST,
    SELECT_GROUP,
    SELECT_PRIORITY,
    SELECT_SOCKET,
    SELECT_FORMAT,
    SELECT_LAST, /* `apply`: --yes; `reject`: --for */
    SELECT_COUNT
};
#define SELECTION_OPTIONS                                                                                    \
    [SELECT_ALL] = {"all", NULL, 0, "all current recommendations"},                                          \
    [SELECT_HOST] = {"host", "HOST", 0, "those that move a VM off or to this host, or change its power"},    \
    [SELECT_GROUP] = {"group", "G", 0, "those of this group"},                                               \
    [SELECT_PRIORITY] = {"priority", "N|N..M", 0,                                                            \
                         "those of this priority, or of priorities N to M (1 to 5)"},                        \
    [SELECT_SOCKET] = OPTION_SOCKET, [SELECT_FORMAT] = OPTION_FORMAT

/* Sends the command ("apply" or "reject") for the recommendations of the command line, and prints those
 * actions, and on standard error those that were left out. EXIT_FAILED if there are any of these, or if an
 * option or a range selects none. */
enum exit_code selection_tell(const struct args *args, const char *command, struct arena *a,
                              struct strbuf *out);

#endif
