/* output.h: standard output, standard error, files. */
#ifndef BALLAST_CLI_OUTPUT_H
#define BALLAST_CLI_OUTPUT_H

#include "cli/verb.h"

#include <stdatomic.h>

/* Whether standard output is a terminal with colours: not where NO_COLOR (no-color.org) is set, or TERM is
 * dumb. */
bool cli_colours(void);

/* Whether a person can be asked: standard input and standard error are a terminal. */
bool cli_can_ask(void);

/* Asks "QUESTION? [y/N]"; whether the answer is yes. */
bool cli_asked(const char *question);

#define CLI_ANSWER_MAX 8192 /* bytes, with its end */

/* Says the prompt, if it is not empty, and reads a line of standard input; a terminal does not show a hidden
 * one. false: the input has ended, or Ctrl-C came (cli_hold_signals()). */
bool cli_answer(const char *prompt, bool hidden, char ret[CLI_ANSWER_MAX]);

/* From now on Ctrl-C and what else ends a process does not, but makes this true; Ctrl-Z does nothing. */
const atomic_bool *cli_hold_signals(void);
void cli_release_signals(void); /* as they were */

/* Prints one line on standard error, which begins with "ballast", or with the file that it is about; control
 * characters in the text are replaced. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same; returns the code, with which the verb ends. */
enum exit_code cli_fail(enum exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Why a list is empty: "no event matches --vm web-1", or without such options `yet`, a line. */
void cli_put_none(const struct args *args, const char *what, const char *yet, struct strbuf *out);

/* "3 older actions are not shown (--limit)"; on standard error where the output is JSON, a list without a
 * place for it. what: of one; nothing for n 0. */
void cli_put_more(const struct args *args, long long n, const char *what, const char *hints,
                  struct strbuf *out);

/* Writes all of it to standard output. EXIT_FAILED, with an error printed, if that fails. */
enum exit_code cli_write(const struct strbuf *out);

/* Writes the whole file, or to standard output if the path is "-". An existing regular file is replaced by
 * rename once the new one is complete; a pipe or a terminal is written to directly. */
enum exit_code cli_write_file(const char *path, const struct strbuf *text);

#endif
