/* xml.c: parses a peer's XML with libxml2 and walks it. It resolves no entity and fetches nothing. */
#include "net/xml.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 32 /* characters; the longest int64 has 20 */
#define NAME_MAX_LEN 64

/* The parser compares each attribute with all others of its element: a million of them would keep it busy for
 * hours, uninterruptible. Real elements have a handful. */
#define TAG_BYTES_MAX 8192

/* Each element takes 120 bytes of memory, however short its text. The largest real answers have about 4
 * million tags. */
#define TAGS_MAX 5000000

static pthread_once_t xml_once = PTHREAD_ONCE_INIT;

static void refuse_dtd(void *ctx, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
    xmlParserCtxt *parser = ctx;

    (void)name, (void)external, (void)system;
    parser->_private = parser; /* marks that a DTD ended the parsing */
    xmlStopParser(parser);
}

static int why_not(const xmlParserCtxt *parser, struct err *err)
{
    const xmlError *last = &parser->lastError;
    char what[200];

    if (parser->_private)
        return err_set(err, -EPROTO, "the answer carries a document type, which is refused");
    (void)snprintf(what, sizeof what, "%s", last->message ? last->message : "it is empty");
    what[strcspn(what, "\n")] = '\0';
    return err_set(err, -EPROTO, "the answer is not XML, or only half of it: %s (line %d)", what, last->line);
}

static const char *past(const char *at, const char *end, const char *mark)
{
    const char *found = memmem(at, (size_t)(end - at), mark, strlen(mark));

    return found ? found + strlen(mark) : end;
}

static bool begins(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) >= strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

/* The end of the tag that begins here; NULL: the tag is too long. A > in quotes does not end a tag. */
static const char *past_tag(const char *at, const char *end)
{
    const char *limit = end - at > TAG_BYTES_MAX ? at + TAG_BYTES_MAX : end;
    char quote = '\0';

    for (; at < limit; at++) {
        if (quote)
            quote = *at == quote ? '\0' : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (*at == '>')
            return at + 1;
    }
    return limit == end ? end : NULL;
}

static int check_tags(const char *text, size_t len, struct err *err)
{
    static const struct {
        const char *begin, *end;
    } others[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    const char *end = text + len;
    size_t n = 0;

    for (const char *at = text; (at = memchr(at, '<', (size_t)(end - at))) != NULL;) {
        size_t i = 0;

        while (i < sizeof others / sizeof others[0] && !begins(at, end, others[i].begin))
            i++;
        if (i < sizeof others / sizeof others[0])
            at = past(at + strlen(others[i].begin), end, others[i].end);
        else if (!(at = past_tag(at, end)))
            return err_set(err, -EPROTO, "the answer has a tag of more than %d bytes, which is refused",
                           TAG_BYTES_MAX);
        if (++n > TAGS_MAX)
            return err_set(err, -EFBIG, "the answer has more than %d tags, which is refused", TAGS_MAX);
    }
    return 0;
}

int xml_parse(const char *text, size_t len, xml_doc **ret, struct err *err)
{
    (void)pthread_once(&xml_once, xmlInitParser);
    if (len > INT_MAX)
        return err_set(err, -EFBIG, "the answer is too large");
    int r = check_tags(text, len, err);
    if (r < 0)
        return r;
    xmlParserCtxt *parser = xmlNewParserCtxt();
    if (!parser)
        return err_set(err, -ENOMEM, "out of memory");
    parser->sax->internalSubset = refuse_dtd;
    /* XML_PARSE_HUGE is not set, so libxml2 itself bounds depth (256) and text length. */
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
