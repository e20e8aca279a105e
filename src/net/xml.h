/* xml.h: reads an XML document from a peer that is not trusted.
 *
 * The document is parsed as a whole; nodes belong to the document and are const. Refused are documents with a
 * DTD (so no entity can expand), with more than 64 levels, with a tag of more than 8 KiB or 32 attributes,
 * with more than three million nodes or ten thousand different names, and documents that are cut off. Nothing
 * is ever fetched. So a document of 64 MiB takes at most 600 MB and 5 s, whatever is in it.
 *
 * Elements are found by their local name, attributes by namespace and name, so a peer may use any prefix. */
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

/* What a document would hold if it were parsed. */
struct xml_size {
    size_t nodes; /* elements, texts, comments and the like; two for each attribute */
    size_t depth, depth_max;
};

/* Counts without parsing. Not less than what the parser makes of a well-formed document. -EPROTO, -EFBIG: it
 * is beyond a limit. */
int xml_measure(const char *text, size_t len, struct xml_size *ret, struct err *err);

/* -EPROTO or -EFBIG with the fault and its line. The caller frees the document with xml_free(); NULL is fine.
 */
int xml_parse(const char *text, size_t len, xml_doc **ret, struct err *err);
void xml_free(xml_doc *doc);
const xml_node *xml_root(const xml_doc *doc);

/* The element's local name. */
const char *xml_name(const xml_node *node);
bool xml_is(const xml_node *node, const char *name);
bool xml_is_ns(const xml_node *node, const char *ns, const char *name);

/* The first child element; the next sibling element. NULL: none, or node is NULL. */
const xml_node *xml_first(const xml_node *node);
const xml_node *xml_next(const xml_node *node);

/* The first child with this name; "summary/quickStats" names a grandchild. NULL: none. */
const xml_node *xml_child(const xml_node *node, const char *path);

/* The next sibling with the same name: for (n = xml_child(p, "vm"); n; n = xml_again(n)) */
const xml_node *xml_again(const xml_node *node);

/* The element's own text, in the arena; "" without text, NULL for a NULL node. */
char *xml_text(const xml_node *node, struct arena *a);
/* The element's text on one line, without control characters, cut to size. "" for a NULL node. */
void xml_line(const xml_node *node, char *ret, size_t size);
/* The same in the arena, cut to XML_LINE_MAX - 1 bytes. NULL: no node, or no text. */
#define XML_LINE_MAX 1024
const char *xml_line_of(const xml_node *node, struct arena *a);
/* Puts a peer's text on one line, without control characters, cut to size. */
void net_one_line(const char *text, char *ret, size_t size);
bool xml_text_is(const xml_node *node, const char *text);

/* Reads a whole number. -EINVAL: the text is none; -ENOENT: node is NULL. Errors leave *ret unchanged. */
int xml_int(const xml_node *node, int64_t *ret);
/* True if the text is "true" or "1". */
bool xml_bool(const xml_node *node);

/* The value of an attribute without namespace, in the arena; NULL: none. */
char *xml_attribute(const xml_node *node, const char *name, struct arena *a);

/* The value of xsi:type without its prefix, in the arena; NULL: none. */
char *xml_type(const xml_node *node, struct arena *a);
bool xml_type_is(const xml_node *node, const char *type);

#endif
