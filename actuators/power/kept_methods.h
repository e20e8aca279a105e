/* kept_methods.h: the objects of power methods, one for each host and method, kept between calls, so that a
 * method may keep what is costly at a controller: a session, a connection, the place of a meter.
 *
 * One object is used by one thread at a time: a second call for the same host and method waits for the first.
 * An object is made anew when its host comes with another configuration (a reload). */
#ifndef BALLAST_ACTUATORS_POWER_KEPT_METHODS_H
#define BALLAST_ACTUATORS_POWER_KEPT_METHODS_H

#include <ballast/power.h>

struct kept_methods;

struct kept_methods *kept_methods_new(void);
void kept_methods_free(struct kept_methods *k); /* no object is in use any more; NULL is fine */

/* Gives the object of this host and method, made where there is none; kept_methods_give() returns it. k NULL:
 * an object for this call only. -EBUSY: another call uses it for too long; -ECANCELED: the service stops;
 * the errors of create(). */
int kept_methods_take(struct kept_methods *k, const struct power_method_ops *ops,
                      const struct power_host *host, struct power_method **ret, struct err *err);
void kept_methods_give(struct kept_methods *k, const struct power_method_ops *ops, struct power_method *m);

/* Once the service stops, destroys the objects that are not in use. Several threads may do so at a time, as
 * each object may take a moment to part from its controller. */
void kept_methods_close(struct kept_methods *k);

#endif
