/* xml.h: reading an XML document that a peer sent.
 *
 * The document is parsed whole and then walked; nodes belong to it and are const. Refused are documents with
 * a DTD (and with it every entity that could grow), with more than 256 levels, with a tag of more than 8 KiB
 * or five million of them, or that end in the middle. Nothing is ever fetched.
 *
 * Elements are found by their local name, attributes by namespace and name: which prefix a peer likes is its
 * own affair.
 */
#ifndef BALLAST_NET_XML_H
#define BALLAST_NET_XML_H

#include <ballast/arena.h>
#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct _xmlDoc;
struct _xmlNode;
typedef struct _xmlDoc xml_doc;
typedef struct _xmlNode xml_node;

#define XML_NS_XSI "http://www.w3.org/2001/XMLSchema-instance"

/* -EPROTO or -EFBIG, with what is wrong and where. xml_free() releases the document; NULL is fine. */
int xml_parse(const char *text, size_t len, xml_doc **ret, struct err *err);
void xml_free(xml_doc *doc);
const xml_node *xml_root(const xml_doc *doc);

/* The element's local name. */
const char *xml_name(const xml_node *node);
bool xml_is(const xml_node *node, const char *name);
bool xml_is_ns(const xml_node *node, const char *ns, const char *name);

/* Element children: the first, the one after. NULL: none. A NULL node has none. */
const xml_node *xml_first(const xml_node *node);
const xml_node *xml_next(const xml_node *node);

/* The first child with this name; a path "summary/quickStats" goes down. NULL: not there. */
const xml_node *xml_child(const xml_node *node, const char *path);

/* The next sibling with the same name: for (n = xml_child(p, "vm"); n; n = xml_again(n)) */
const xml_node *xml_again(const xml_node *node);

/* The text of the element itself, in the arena; "" when it has none, NULL for a NULL node. */
char *xml_text(const xml_node *node, struct arena *a);
/* The same for a person, cut to size: on one line, without control characters. ret is "" for a NULL node. */
void xml_line(const xml_node *node, char *ret, size_t size);
/* Any text of a peer, made so. */
void net_one_line(const char *text, char *ret, size_t size);
bool xml_text_is(const xml_node *node, const char *text);

/* A whole number, or -EINVAL; -ENOENT for a NULL node. *ret is untouched then. */
int xml_int(const xml_node *node, int64_t *ret);
/* false unless the text says "true" or "1". */
bool xml_bool(const xml_node *node);

/* An attribute without namespace; NULL: not there. */
char *xml_attribute(const xml_node *node, const char *name, struct arena *a);

/* What xsi:type says, without its prefix; NULL: nothing. */
char *xml_type(const xml_node *node, struct arena *a);
bool xml_type_is(const xml_node *node, const char *type);

#endif
