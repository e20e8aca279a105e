/* series_write.h: keeps looks, and thins them. For the files of store only. */
#ifndef BALLAST_STORE_SERIES_WRITE_H
#define BALLAST_STORE_SERIES_WRITE_H

#include "store/internal.h"

/* What the writer remembers between two looks; all of it is in the tables too. */
struct series_writer;

/* put_look() of the store port. Beside the look itself a part of the thinning that is due, and of the
 * deletion of thinned looks: a look of 30,000 VMs never waits for more than a few blocks (README.md has
 * times). */
int store_put_look(struct store *s, const struct look *look, struct err *err);

/* Drops means of times before this, and objects that were last seen before it. INT64_MAX: all, and looks too.
 */
int series_write_prune(struct store *s, instant_s before, struct err *err);

/* What was written since begin() is not there: it is read anew. */
void series_write_forget(struct store *s);

void series_write_free(struct series_writer *w);

#endif
