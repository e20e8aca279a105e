/* migrations.h: the migrations that this process has begun: one thread for each, which waits in libvirt's
 * call, and what the call gave.
 *
 * libvirt's call lasts as long as the migration. Each has a connection of its own: libvirtd executes only a
 * few calls of a client at a time, and reads nothing more from it meanwhile.
 *
 * The object has copies of all that it needs of the configuration: a thread whose host hangs may outlive it.
 */
#ifndef BALLAST_ACTUATORS_LIBVIRT_MIGRATIONS_H
#define BALLAST_ACTUATORS_LIBVIRT_MIGRATIONS_H

#include "actuators/libvirt/call.h"
#include "actuators/libvirt/decide.h"
#include "actuators/libvirt/task_name.h"
#include "net/libvirt/settings.h"

#include <ballast/err.h>

#include <libvirt/libvirt.h>
#include <stddef.h>

struct leftovers;
struct migrations;

/* Holds the connections. */
struct migrations *migrations_new(struct libvirt_connections *conns, const struct libvirt_settings *settings);
struct migrations *migrations_hold(struct migrations *m);
void migrations_release(struct migrations *m);
/* The source is closed: nothing is begun or repaired any more. Threads that wait for a host end with it. */
void migrations_close(struct migrations *m);

/* ---- hosts ---- */

/* SIZE_MAX: there is no such host. */
size_t migrations_host(const struct migrations *m, const char *name);
size_t migrations_host_count(const struct migrations *m);
const char *migrations_host_name(const struct migrations *m, size_t host);

#define MIGRATIONS_CONNECT_MS 5000 /* a shared connection is there at once, or its host does not answer */

/* A connection that the caller has alone until migrations_disconnect(). */
int migrations_connect(struct migrations *m, size_t host, int64_t deadline_ms, virConnectPtr *ret,
                       struct err *err);
void migrations_disconnect(struct migrations *m, size_t host, virConnectPtr conn);

#define MIGRATIONS_STUCK_MS 30000 /* above the time after which a silent connection is given up */
#define MIGRATIONS_ASKING_MOST 8

/* The caller, a thread, is about to ask the host something that may never be answered. -ETIMEDOUT: do not: it
 * has given no answer for MIGRATIONS_STUCK_MS, or MIGRATIONS_ASKING_MOST threads wait for one. Else
 * migrations_answered() follows, when the answer or an error is there. now_ms: net_now_ms(). */
int migrations_ask(struct migrations *m, size_t host, int64_t now_ms, struct err *err);
void migrations_answered(struct migrations *m, size_t host, int64_t now_ms);

/* How a VM is migrated. */
struct libvirt_migration migrations_settings(const struct migrations *m, const char *vm, const char *name);

/* Folders that all hosts have in common, NULL at the end. */
const char *const *migrations_shared_paths(const struct migrations *m);

/* ---- calls ---- */

/* Begins the task in a thread; disks: NULL: none are copied. libvirt is asked when migrations_call() has been
 * called for the task, since only then its name is stored: a process that ends in between has begun nothing.
 * -EBUSY: one of this VM runs. */
int migrations_begin(struct migrations *m, const struct task_name *t, const struct libvirt_migration *how,
                     const struct call_disks *disks, struct err *err);

/* The call for this task; *ret_why (CALL_REFUSED) is what libvirt said. */
enum call_state migrations_call(struct migrations *m, const struct task_name *t, struct err *ret_why);

/* The task of this VM whose call runs. */
bool migrations_running(struct migrations *m, const char *vm, struct task_name *ret);

/* True: libvirt was not asked yet, and will not be. */
bool migrations_give_up(struct migrations *m, const struct task_name *t);

/* The migration was cancelled because of its time limit: what CALL_REFUSED says instead. */
void migrations_blame(struct migrations *m, const struct task_name *t, const struct err *why);

/* The hosts do, or do not, tell how the task stands. True for a minute: a host that does not answer may only
 * be slow, so the end of the task is not decided yet. */
bool migrations_wait_for(struct migrations *m, const struct task_name *t, bool silent);

/* What tasks may have left over on hosts. */
struct leftovers *migrations_leftovers(struct migrations *m);

#endif
