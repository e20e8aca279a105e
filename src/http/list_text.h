/* list_text.h: a reply of the service as HTTP gives it: whole, or a page of its list, without a copy.
 *
 * A reply is one JSON object with one long list, whose elements begin with their id. The places of the
 * elements are found once, when a page is first asked for; a page is then three slices of the same text. Any
 * thread. */
#ifndef BALLAST_HTTP_LIST_TEXT_H
#define BALLAST_HTTP_LIST_TEXT_H

#include "base/shared_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#define LIST_TEXT_ETAG_SIZE 35 /* with its quotes */
#define LIST_TEXT_CURSOR_SIZE 1024

struct list_text;

/* Takes a reference of the text. member: the list; NULL: none. One reference is the caller's. */
struct list_text *list_text_new(struct shared_text *text, const char *member);
struct list_text *list_text_ref(struct list_text *l);
void list_text_unref(struct list_text *l); /* NULL is fine */

struct shared_text *list_text_whole(struct list_text *l); /* borrowed */

/* The strong ETag of the whole text. */
const char *list_text_etag(struct list_text *l);

size_t list_text_count(struct list_text *l);

/* The element at this index, less than list_text_count(); gives its id if that is a number, else 0. */
uint64_t list_text_element(struct list_text *l, size_t i, struct iovec *ret);

/* An element by its id, else by its name. False: there is none. */
bool list_text_find(struct list_text *l, const char *id, struct iovec *ret);

/* A page of at most `limit` elements behind the cursor (NULL: the first page), as ret[0..2]. *ret_more: the
 * cursor of the next page, "" behind the last one. -EINVAL: not a cursor. */
int list_text_page(struct list_text *l, const char *cursor, size_t limit, struct iovec ret[3],
                   char ret_more[LIST_TEXT_CURSOR_SIZE]);

/* The member's value as it stands in the reply; empty: there is none. */
struct iovec list_text_value(struct list_text *l, const char *member);

/* The text that is a member of the reply (a snapshot within JSON), decoded once; NULL: there is none.
 * Borrowed. */
struct shared_text *list_text_member(struct list_text *l);

#endif
