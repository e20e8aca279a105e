/* xml.c: parses a peer's XML with libxml2 and walks it. It resolves no entity and fetches nothing. */
#include "net/xml.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <libxml/SAX2.h>
#include <libxml/dict.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 32 /* characters; the longest int64 has 20 */
#define NAME_MAX_LEN 64

/* The parser compares each attribute with all others of its element, and looks for a prefix in all
 * declarations of the elements around: many of them would keep it busy for hours, uninterruptible. Real
 * elements have a handful of attributes, and real documents less than 20 levels. */
#define TAG_BYTES_MAX 8192
#define ATTRIBUTES_MAX 32
#define DEPTH_MAX 64

/* Each node takes 100 to 150 bytes of memory, however short its text. Real answers have one node for each 14
 * bytes, so this many are 40 MB of text. */
#define NODES_MAX 3000000

static pthread_once_t xml_once = PTHREAD_ONCE_INIT;

/* The parser's table of names is slow beyond this: a million names take hours. Real answers have some
 * hundred.
 */
#define NAMES_MAX 10000

static void stop(xmlParserCtxt *parser, const char *why)
{
    parser->_private = (void *)(uintptr_t)why;
    xmlStopParser(parser);
}

static void refuse_dtd(void *ctx, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
    (void)name, (void)external, (void)system;
    stop(ctx, "the XML carries a document type, which is refused");
}

static bool has_many_names(xmlParserCtxt *parser)
{
    if (xmlDictSize(parser->dict) <= NAMES_MAX)
        return false;
    stop(parser, "the XML has too many different names, which is refused");
    return true;
}

static void start_element(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int n_ns,
                          const xmlChar **ns, int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    if (!has_many_names(ctx))
        xmlSAX2StartElementNs(ctx, name, prefix, uri, n_ns, ns, n_attributes, n_defaulted, attributes);
}

static void instruction(void *ctx, const xmlChar *target, const xmlChar *data)
{
    if (!has_many_names(ctx))
        xmlSAX2ProcessingInstruction(ctx, target, data);
}

/* The error is taken from the parser afterwards; by default some are printed as well. */
static void print_nothing(void *ctx, xmlErrorPtr error)
{
    (void)ctx, (void)error;
}

static int why_not(const xmlParserCtxt *parser, struct err *err)
{
    const xmlError *last = &parser->lastError;
    char what[200];

    if (parser->_private)
        return err_set(err, -EPROTO, "%s", (const char *)parser->_private);
    (void)snprintf(what, sizeof what, "%s", last->message ? last->message : "it is empty");
    what[strcspn(what, "\n")] = '\0';
    return err_set(err, -EPROTO, "this is not XML, or only half of it: %s (line %d)", what, last->line);
}

/* Behind the next mark, which ends with >. Not by memmem: of that, a sanitizer checks all the rest each time.
 */
static const char *past(const char *at, const char *end, const char *mark)
{
    const size_t before = strlen(mark) - 1;

    for (const char *last = at; (last = memchr(last, '>', (size_t)(end - last))); last++)
        if ((size_t)(last - at) >= before && memcmp(last - before, mark, before) == 0)
            return last + 1;
    return end;
}

static bool begins(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) >= strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

/* A start of an element, an end, or both. */
struct tag {
    const char *end; /* behind its >; the end of the text: it is cut off */
    size_t attributes;
    bool opens, closes;
};

/* Reads the tag that begins here. A > in quotes does not end a tag. */
static int read_tag(const char *at, const char *end, struct tag *ret, struct err *err)
{
    const char *limit = end - at > TAG_BYTES_MAX ? at + TAG_BYTES_MAX : end;
    const bool is_end = begins(at, end, "</");
    char quote = '\0';

    *ret = (struct tag){.end = end, .opens = !is_end, .closes = is_end};
    for (; at < limit; at++) {
        if (quote) {
            quote = *at == quote ? '\0' : quote;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
            ret->attributes++;
        } else if (*at == '>') {
            ret->end = at + 1;
            ret->closes = is_end || at[-1] == '/';
            break;
        }
    }
    if (at == limit && limit != end)
        return err_set(err, -EPROTO, "the XML has a tag of more than %d bytes, which is refused",
                       TAG_BYTES_MAX);
    if (ret->attributes > ATTRIBUTES_MAX)
        return err_set(err, -EPROTO, "the XML has an element with more than %d attributes, which is refused",
                       ATTRIBUTES_MAX);
    return 0;
}

/* Reads the markup that begins here, and counts its nodes: an attribute has its text as a second one. */
static int read_markup(const char **at, const char *end, struct xml_size *size, struct err *err)
{
    static const struct {
        const char *begin, *end;
    } others[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    struct tag tag;
    int r;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (!begins(*at, end, others[i].begin))
            continue;
        *at = past(*at + strlen(others[i].begin), end, others[i].end);
        size->nodes++;
        return 0;
    }
    if ((r = read_tag(*at, end, &tag, err)) < 0)
        return r;
    *at = tag.end;
    size->nodes += tag.opens + 2 * tag.attributes;
    size->depth += tag.opens;
    size->depth_max = size->depth > size->depth_max ? size->depth : size->depth_max;
    size->depth -= tag.closes && size->depth > 0;
    return 0;
}

int xml_measure(const char *text, size_t len, struct xml_size *ret, struct err *err)
{
    const char *end = text + len;
    const char *at = text;
    int r;

    *ret = (struct xml_size){0};
    while (at < end) {
        const char *markup = memchr(at, '<', (size_t)(end - at));

        ret->nodes += markup != at; /* text */
        if (!markup)
            break;
        at = markup;
        if ((r = read_markup(&at, end, ret, err)) < 0)
            return r;
        if (ret->nodes > NODES_MAX)
            return err_set(err, -EFBIG,
                           "the XML has more than %d elements, attributes and texts, which is refused",
                           NODES_MAX);
        if (ret->depth_max > DEPTH_MAX)
            return err_set(err, -EPROTO, "the XML has more than %d levels, which is refused", DEPTH_MAX);
    }
    return 0;
}

int xml_parse(const char *text, size_t len, xml_doc **ret, struct err *err)
{
    (void)pthread_once(&xml_once, xmlInitParser);
    if (len > INT_MAX)
        return err_set(err, -EFBIG, "the XML is too large");
    struct xml_size size;
    int r = xml_measure(text, len, &size, err);

    if (r < 0)
        return r;
    xmlParserCtxt *parser = xmlNewParserCtxt();
    if (!parser)
        return err_set(err, -ENOMEM, "out of memory");
    parser->sax->serror = print_nothing;
    parser->sax->internalSubset = refuse_dtd;
    parser->sax->startElementNs = start_element;
    parser->sax->processingInstruction = instruction;
    /* XML_PARSE_HUGE is not set, so libxml2 itself bounds the length of a text. */
    /* Peers send UTF-8; another declared encoding would only call converters. */
    xmlDoc *doc = xmlCtxtReadMemory(parser, text, (int)len, NULL, "UTF-8",
                                    XML_PARSE_NONET | XML_PARSE_IGNORE_ENC | XML_PARSE_NOERROR |
                                        XML_PARSE_NOWARNING | XML_PARSE_NOBLANKS | XML_PARSE_COMPACT);

    if (!doc || parser->_private || !xmlDocGetRootElement(doc)) {
        r = why_not(parser, err);
        xmlFreeDoc(doc);
    } else {
        *ret = doc;
    }
    xmlFreeParserCtxt(parser);
    return r;
}

void xml_free(xml_doc *doc)
{
    if (doc)
        xmlFreeDoc(doc);
}

const xml_node *xml_root(const xml_doc *doc)
{
    return xmlDocGetRootElement(doc);
}

const char *xml_name(const xml_node *node)
{
    return (const char *)node->name;
}

bool xml_is(const xml_node *node, const char *name)
{
    return node && strcmp(xml_name(node), name) == 0;
}

bool xml_is_ns(const xml_node *node, const char *ns, const char *name)
{
    return xml_is(node, name) && node->ns && node->ns->href && strcmp((const char *)node->ns->href, ns) == 0;
}

static const xml_node *element(const xml_node *node)
{
    while (node && node->type != XML_ELEMENT_NODE)
        node = node->next;
    return node;
}

const xml_node *xml_first(const xml_node *node)
{
    return node ? element(node->children) : NULL;
}

const xml_node *xml_next(const xml_node *node)
{
    return node ? element(node->next) : NULL;
}

static const xml_node *child_named(const xml_node *node, const char *name, size_t len)
{
    for (const xml_node *c = xml_first(node); c; c = xml_next(c)) {
        if (strncmp(xml_name(c), name, len) == 0 && xml_name(c)[len] == '\0')
            return c;
    }
    return NULL;
}

const xml_node *xml_child(const xml_node *node, const char *path)
{
    while (node && *path) {
        size_t len = strcspn(path, "/");

        node = child_named(node, path, len);
        path += len + (path[len] == '/');
    }
    return node;
}

const xml_node *xml_again(const xml_node *node)
{
    const char *name = xml_name(node);

    for (node = xml_next(node); node; node = xml_next(node)) {
        if (xml_is(node, name))
            return node;
    }
    return NULL;
}

static bool is_text(const xml_node *n)
{
    return (n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE) && n->content;
}

/* Copies the element's own text, at most size - 1 bytes; returns its full length. */
static size_t copy_text(const xml_node *node, char *ret, size_t size)
{
    size_t len = 0;

    for (const xml_node *n = node->children; n; n = n->next) {
        if (!is_text(n))
            continue;
        size_t more = strlen((const char *)n->content);
        if (len < size) {
            size_t room = size - 1 - len;
            memcpy(ret + len, n->content, more < room ? more : room);
        }
        len += more;
    }
    if (size > 0)
        ret[len < size ? len : size - 1] = '\0';
    return len;
}

char *xml_text(const xml_node *node, struct arena *a)
{
    if (!node)
        return NULL;
    size_t len = copy_text(node, NULL, 0);
    char *text = arena_alloc(a, len + 1, 1);

    (void)copy_text(node, text, len + 1);
    return text;
}

void net_one_line(const char *text, char *ret, size_t size)
{
    size_t n = 0;

    for (; text && *text && n + 1 < size; text++) {
        bool blank = isspace((unsigned char)*text) || iscntrl((unsigned char)*text);
        if (blank && (n == 0 || ret[n - 1] == ' '))
            continue;
        ret[n++] = blank ? ' ' : *text;
    }
    ret[n] = '\0';
}

void xml_line(const xml_node *node, char *ret, size_t size)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    net_one_line(xml_text(node, &a), ret, size);
}

const char *xml_line_of(const xml_node *node, struct arena *a)
{
    char text[XML_LINE_MAX];

    xml_line(node, text, sizeof text);
    return text[0] ? arena_strdup(a, text) : NULL;
}

bool xml_text_is(const xml_node *node, const char *text)
{
    char own[NAME_MAX_LEN];

    return node && copy_text(node, own, sizeof own) < sizeof own && strcmp(own, text) == 0;
}

int xml_int(const xml_node *node, int64_t *ret)
{
    char own[NUMBER_MAX];
    char *end = own;

    if (!node)
        return -ENOENT;
    if (copy_text(node, own, sizeof own) >= sizeof own)
        return -EINVAL;
    errno = 0;
    long long value = strtoll(own, &end, 10);
    end += strspn(end, " \t\r\n");
    if (end == own || *end != '\0' || errno == ERANGE)
        return -EINVAL;
    *ret = value;
    return 0;
}

bool xml_bool(const xml_node *node)
{
    return xml_text_is(node, "true") || xml_text_is(node, "1");
}

char *xml_attribute(const xml_node *node, const char *name, struct arena *a)
{
    if (!node)
        return NULL;
    xmlChar *value = xmlGetNoNsProp(node, (const xmlChar *)name);
    char *copy = arena_strdup(a, (const char *)value);

    if (value)
        xmlFree(value);
    return copy;
}

char *xml_type(const xml_node *node, struct arena *a)
{
    if (!node)
        return NULL;
    xmlChar *value = xmlGetNsProp(node, (const xmlChar *)"type", (const xmlChar *)XML_NS_XSI);
    if (!value)
        return NULL;
    const char *colon = strchr((const char *)value, ':');
    char *copy = arena_strdup(a, colon ? colon + 1 : (const char *)value);

    xmlFree(value);
    return copy;
}

bool xml_type_is(const xml_node *node, const char *type)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *is = xml_type(node, &a);

    return is && strcmp(is, type) == 0;
}
