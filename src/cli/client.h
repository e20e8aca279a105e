/* client.h: talks to the service over its socket. src/daemon/README.md has the protocol.
 *
 * One request a connection. If the service cannot be reached, one line on standard error names the socket and
 * the reason, and the verb ends with EXIT_UNREACHABLE. If the service refuses the request, its error is
 * printed and the verb ends with the exit code in the reply (1, 2, or 3 when it is overloaded).
 */
#ifndef BALLAST_CLI_CLIENT_H
#define BALLAST_CLI_CLIENT_H

#include "cli/output.h"
#include "cli/verb.h"
#include "render/reply.h"

/* The service refuses a longer line. */
#define CLIENT_REQUEST_MAX ((size_t)64 * 1024)

#define SOCKET_DEFAULT "/run/ballast/ballastd.sock"

/* The options that every verb of the service has. */
#define OPTION_SOCKET                                                                                        \
    {                                                                                                        \
        "socket", "PATH", 0, "socket of the service; default: $BALLAST_SOCKET, or " SOCKET_DEFAULT           \
    }

/* The verb that runs: what the service refuses is named as its options and operand are. */
void client_begin(const struct verb *v);

/* From now on a request waits so long for the service; 0: for ever, as from the beginning. */
void client_limit(int seconds);

/* Whether something listens at this socket; says nothing. */
bool client_reaches(const char *path);

/* Sends the request, which it releases, and reads the reply; the caller releases *ret. path NULL:
 * BALLAST_SOCKET, or the default. EXIT_FAILED with a reply: the same request with "yes" is carried out. */
enum exit_code client_call(const char *path, json_t *request, json_t **ret);

/* As client_call(), for a reply of many lines: calls `each` for every line as it arrives, until `each` does
 * not return EXIT_DONE or the service closes the connection (EXIT_UNREACHABLE). */
typedef enum exit_code (*stream_fn)(void *ctx, const json_t *reply);
enum exit_code client_stream(const char *socket, json_t *request, stream_fn each, void *ctx);

/* ---- verbs that show a reply ----------------------------------------------------------------- */

typedef void client_show_fn(const json_t *reply, struct arena *a, struct strbuf *out);

/* Sends the request and prints the reply's member `key` (NULL: all of it) as JSON, or as text by show(). What
 * the service wants confirmed is asked on a terminal. */
enum exit_code client_show(const struct args *args, json_t *request, const char *key, client_show_fn *show,
                           struct arena *a, struct strbuf *out);

/* A verb with client_run() as its function: it sends this request, whose only field is the verb's operand. */
struct client_request {
    const char *word;
    const char *operand; /* the field's name; NULL: the verb has no operand */
    const char *member;  /* of the reply, printed as JSON; NULL: all of it */
    const char *done;    /* the text that is printed, one line; NULL: show() prints it */
    client_show_fn *show;
};

enum exit_code client_run(const struct args *args, struct arena *a, struct strbuf *out);

/* ---- verbs with client_options only ---------------------------------------------------------- */

enum { CLIENT_OPT_SOCKET, CLIENT_OPT_FORMAT, CLIENT_OPT_COUNT };
extern const struct option_spec client_options[CLIENT_OPT_COUNT];

#endif
