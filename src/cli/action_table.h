/* action_table.h: the table of actions that `recommendations`, `apply`, `reject`, `run` and others print. */
#ifndef BALLAST_CLI_ACTION_TABLE_H
#define BALLAST_CLI_ACTION_TABLE_H

#include "base/strbuf.h"
#include "render/table.h"

#include <ballast/arena.h>

#include <jansson.h>
#include <stdbool.h>

/* reply: has the domain of the hosts. */
void action_table_print(const json_t *reply, const json_t *list, struct arena *a, struct strbuf *out);

/* What an action is about, as the cells of these columns. */
#define ACTION_TABLE_SUBJECT                                                                                 \
    {"VM", false}, {"FROM", .host = true}, {"", .tight = true},                                              \
    {                                                                                                        \
        "TO", .host = true, .tight = true                                                                    \
    }
void action_table_put_subject(struct table *t, const json_t *action);

/* Prints the actions of a reply. If there are none it prints "nothing to do", followed by `nothing` (": the
 * host is on"). */
void action_table_print_begun(const json_t *balance, const char *nothing, struct arena *a,
                              struct strbuf *out);

/* Prints how many VMs leave the host of a command first (`leaving_vms` of a reply), which of them, and how to
 * undo that: `undo` and the host's name. Nothing where there are none. */
void action_table_print_leaving(const json_t *reply, const char *undo, struct arena *a, struct strbuf *out);

/* Prints a note on the VMs of a host that do not run (`off_vms` of a reply); nothing where there are none.
 * `what`: what follows for them. */
void action_table_print_off_vms(const json_t *reply, const char *what, struct arena *a, struct strbuf *out);

/* Its number as people type it: "3", or "3.2" if its destination has changed since it was recommended. */
const char *action_table_number(const json_t *action, struct arena *a);

/* The subject of an action: "web-1: esx1 -> esx2", "web-1 -> esx2" for a VM that is powered on there, or the
 * host. */
const char *action_table_subject(const json_t *action, struct arena *a);

/* That optional moves wait (balance.windows); NULL if they do not. */
const char *action_table_waiting(const json_t *balance, struct arena *a);

#endif
