/* Answers of SOAP peers: parsed, and every part of them read in every way. A document that is parsed has not
 * more nodes and levels than were counted before. */
#include "net/soap.h"
#include "net/vsphere/task.h"

#include <libxml/tree.h>

static void read_all(const xml_node *node, struct arena *a, unsigned depth)
{
    int64_t number;
    struct vsphere_task task;

    for (; node && depth < 300; node = xml_next(node)) {
        (void)xml_text(node, a);
        (void)xml_int(node, &number);
        (void)xml_bool(node);
        (void)xml_type(node, a);
        (void)xml_attribute(node, "type", a);
        (void)vsphere_task_read(node, &task, NULL);
        read_all(xml_first(node), a, depth + 1);
    }
}

static void count(const xmlNode *node, size_t depth, struct xml_size *ret)
{
    for (; node; node = node->next) {
        ret->nodes++;
        if (node->type != XML_ELEMENT_NODE)
            continue;
        ret->depth_max = depth > ret->depth_max ? depth : ret->depth_max;
        for (const xmlNs *n = node->nsDef; n; n = n->next)
            ret->nodes++;
        for (const xmlAttr *x = node->properties; x; x = x->next) {
            ret->nodes++;
            count(x->children, 0, ret);
        }
        count(node->children, depth + 1, ret);
    }
}

static void check_size(const char *text, size_t len)
{
    struct xml_size before, after = {0};
    struct err err;
    xml_doc *doc;

    if (xml_parse(text, len, &doc, &err) < 0)
        return;
    if (xml_measure(text, len, &before, &err) < 0)
        abort();
    count(doc->children, 1, &after);
    if (after.nodes > before.nodes || after.depth_max > before.depth_max)
        abort();
    xml_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct soap_answer answer;
    struct err err;

    check_size((const char *)data, size);
    if (soap_parse((const char *)data, size, &answer, &err) < 0)
        return 0;
    struct arena a = {0};
    read_all(answer.payload, &a, 0);
    arena_release(&a);
    soap_answer_release(&answer);
    return 0;
}
