/* client.h: a client of the service, whatever it is connected by: its name and role, how it gets an answer,
 * and whether it waits for one.
 *
 * A transport (server.h: the Unix socket) makes a struct client the first member of its own
 * client, and gives each request to request_handler.h, which answers it or lets the client wait with a
 * ticket. Clients that wait are on one list, in all and by user fewer than a limit. Main thread only. */
#ifndef BALLAST_DAEMON_CLIENTS_CLIENT_H
#define BALLAST_DAEMON_CLIENTS_CLIENT_H

#include "base/shared_text.h"
#include "daemon/process.h"

#include <ballast/err.h>
#include <ballast/names.h>

#include <stdbool.h>
#include <stdint.h>

struct client;

/* Why a client stays connected after its request. */
enum client_stay {
    CLIENT_STAY_RESULT,   /* its pass or placement is not made yet */
    CLIENT_STAY_DECISION, /* the answer to its question is not there yet (decisions.h) */
    CLIENT_STAY_EVENTS,   /* it follows events */
    client_stay_count
};

struct client_ops {
    /* Sends the answer, one JSON object and a newline; takes a reference of its own. */
    void (*reply)(struct client *c, struct shared_text *text);
    /* Sends an error instead. */
    void (*refuse)(struct client *c, const struct err *err);
    /* The client waits from now on. NULL: nothing to do. */
    void (*waits)(struct client *c);
    /* Sends one line to a client that continues to wait; whether it has read all of them. NULL: clients of
     * this transport cannot follow. */
    void (*stream)(struct client *c, struct shared_text *text);
    bool (*took_all)(const struct client *c);
};

/* The clients that wait. */
struct clients {
    struct client *waiting;
    struct client *next_asked; /* client_each_waiting() goes on here */
};

struct client {
    const struct client_ops *ops;
    struct clients *all;
    struct client *next; /* on all->waiting */
    uint64_t ticket;     /* the client waits for this; 0: does not wait */
    enum client_stay why;
    enum role role;
    char who[USER_NAME_MAX];      /* "root (uid 0)": for records and limits */
    char person[PERSON_NAME_MAX]; /* engine_set_person(); "": none */
};

/* Sends the text and a newline; takes the text over. */
void client_reply(struct client *c, struct strbuf *text);
void client_reply_shared(struct client *c, struct shared_text *text); /* takes its own reference */
void client_refuse(struct client *c, const struct err *err);

/* Whether one more client of this user may stay. -EUSERS: too many do; the sentence names the limit. */
int client_may_stay(const struct client *c, enum client_stay why, struct err *err);

/* Lets the client wait until client_reply(). client_may_stay() must have allowed it. The caller chooses the
 * ticket, not 0. */
void client_wait(struct client *c, enum client_stay why, uint64_t ticket);

/* Ends the wait without an answer: the client is gone. Gives its ticket, 0 if it did not wait. */
uint64_t client_stop_waiting(struct client *c);

/* Sends one line to a waiting client, which continues to wait. */
void client_stream(struct client *c, struct strbuf *text);

/* Calls `each` for every waiting client. It may reply. */
void client_each_waiting(struct clients *all, void (*each)(void *ctx, struct client *c, uint64_t ticket),
                         void *ctx);

#endif
