/* client.h: the command's side of the service's socket. src/daemon/README.md has the protocol.
 *
 * One request a connection. Where the service is not reached, one sentence on standard error names the socket
 * and the reason, and the verb ends with EXIT_UNREACHABLE; where the service says no, its sentence is shown
 * and the verb ends as it says (1 or 2).
 */
#ifndef BALLAST_CLI_CLIENT_H
#define BALLAST_CLI_CLIENT_H

#include "cli/output.h"
#include "cli/verb.h"

#include <jansson.h>

#define SOCKET_DEFAULT "/run/ballast/ballastd.sock"

/* The options that every verb of the service has. */
#define OPTION_SOCKET                                                                                        \
    {                                                                                                        \
        "socket", "PATH", 0, "where the service listens (BALLAST_SOCKET, or " SOCKET_DEFAULT ")"             \
    }

/* Sends the request, which is used up, and reads the reply; *ret is the caller's. path NULL: BALLAST_SOCKET,
 * or the default. */
enum exit_code client_call(const char *path, json_t *request, json_t **ret);

/* The same for a reply of many lines: `each` gets one after the other, as they come, until it does not return
 * EXIT_DONE or the service closes the connection (EXIT_UNREACHABLE). */
typedef enum exit_code (*stream_fn)(void *ctx, const json_t *reply);
enum exit_code client_stream(const char *socket, json_t *request, stream_fn each, void *ctx);

/* ---- reading replies: what is not there, or is of another type, is nothing ------------------- */

const char *reply_text(const json_t *object, const char *key); /* NULL */
double reply_number(const json_t *object, const char *key);    /* UNKNOWN */
int64_t reply_int(const json_t *object, const char *key);      /* 0 */

/* The reply (or one member of it) as it came, for --format json. */
void reply_dump(const json_t *value, struct strbuf *out);

/* ---- a verb that asks one thing and shows it ------------------------------------------------- */

/* Calls, and prints: the reply's member `key` (all of it, if NULL) as JSON, or what show() makes of it. */
enum exit_code client_show(const char *socket, enum cli_format format, json_t *request, const char *key,
                           void (*show)(const json_t *reply, struct arena *a, struct strbuf *out),
                           struct arena *a, struct strbuf *out);

/* ---- a verb that tells the service one thing, and has no options but these ------------------- */

enum { CLIENT_OPT_SOCKET, CLIENT_OPT_FORMAT, CLIENT_OPT_COUNT };
extern const struct option_spec client_options[CLIENT_OPT_COUNT];

/* Sends the command and shows done, one line. */
enum exit_code client_tell(const struct args *args, const char *command, const char *done, struct arena *a,
                           struct strbuf *out);

/* Sends the command with the operands, which are the numbers of recommendations, and shows those actions. */
enum exit_code client_tell_ids(const struct args *args, const char *command, struct arena *a,
                               struct strbuf *out);

/* Shows the actions of a reply, as a verb does that may have had nothing to do: then `nothing` (": it is on")
 * ends the sentence that says so. False: there was nothing to do. */
bool show_begun_actions(const json_t *reply, const char *nothing, struct arena *a, struct strbuf *out);

/* What an action is done to, by name: "web-1: esx1 -> esx2", or the host. */
const char *action_what(const json_t *action, struct arena *a);

/* Tables of actions, shared by `recommendations`, `history`, `apply`, `reject` and `run`. */
void show_actions(const json_t *list, struct arena *a, struct strbuf *out);

#endif
