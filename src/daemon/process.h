/* process.h: clocks and signals. */
#ifndef BALLAST_DAEMON_PROCESS_H
#define BALLAST_DAEMON_PROCESS_H

#include <ballast/err.h>

#include <stdint.h>
#include <time.h>

#define USEC_PER_S ((uint64_t)1000000)

/* Of a clock that is there always. */
int64_t process_clock_us(clockid_t clock);

/* One that nobody can set, and that goes on while the machine sleeps. */
int64_t process_steady_us(void);

/* This program once more, in the place of this process and with its id. Returns only if it cannot be: a
 * negative errno. */
int process_run_anew(char *const argv[]);

/* Before any thread begins, so that all of them leave SIGTERM, SIGINT and SIGHUP to the loop. */
int process_block_signals(struct err *err);

#endif
