/* watch.h: shows a verb's output on the whole terminal, again every two seconds, until q or Ctrl-C.
 * Arrows, Page Up, Page Down, Home and End scroll. */
#ifndef BALLAST_CLI_WATCH_H
#define BALLAST_CLI_WATCH_H

#include "cli/verb.h"

/* EXIT_WRONG with an error if standard output is no terminal. Errors of the verb are shown above its last
 * output, and it is tried again; wrong usage ends the watch. */
enum exit_code watch_run(const struct verb *v, const struct args *args);

#endif
