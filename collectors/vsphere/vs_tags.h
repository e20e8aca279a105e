/* vs_tags.h: tags of VMs and hosts as labels: category = tag, several tags of a category separated by ";".
 *
 * Tags change rarely and are in an API of their own, so they are read every few minutes, those of an object
 * not seen before at once. Where they cannot be read, the log says so and those read last stand: an inventory
 * never fails for want of tags. It says whether tags of an object were never read: rules by tags cannot be
 * kept then. A peer without an API for tags has none. */
#ifndef BALLAST_COLLECTORS_VSPHERE_TAGS_H
#define BALLAST_COLLECTORS_VSPHERE_TAGS_H

#include "base/idmap.h"
#include "collectors/vsphere/vs_inventory.h"
#include "net/vsphere/session.h"

#include <jansson.h>

struct vs_tags;

/* cfg is borrowed until vs_tags_free(). */
struct vs_tags *vs_tags_new(const struct source_config *cfg);
void vs_tags_free(struct vs_tags *t); /* NULL is fine */

/* Sets the tags of all hosts and VMs of `s`, and tags_unread, reading them if it is time, within a quarter of
 * the source's timeout and 15 s. They live until the next call. */
void vs_tags_collect(struct vs_tags *t, struct vsphere *v, struct vs_inventory *s);

/* Why the last reading failed; NULL: it succeeded, or there was none. */
const struct err *vs_tags_error(const struct vs_tags *t);
/* Objects that have a tag. */
size_t vs_tags_objects(const struct vs_tags *t);

/* ---- answers (vs_tags_read.c); each is untrusted ---- */

struct vs_tag {
    const char *name;
    const char *category; /* its id, as read; its name, for vs_tags_labels() */
};

/* list-attached-tags-on-objects: adds to `ret` the tags' ids (struct ids, in the arena) of each object, by
 * the object's id. -EPROTO: the answer is something else. */
int vs_tags_read_attached(const json_t *answer, struct arena *a, struct idmap *ret, struct err *err);

/* A tag; a category (which has no category). -EPROTO. */
int vs_tags_read_tag(const json_t *answer, struct arena *a, struct vs_tag *ret, struct err *err);
int vs_tags_read_category(const json_t *answer, struct arena *a, struct vs_tag *ret, struct err *err);

/* The labels of these tags, in alphabetical order; sorts them. Their strings are the arena's. */
struct labels vs_tags_labels(struct vs_tag *tags, size_t n, struct arena *a);

#endif
