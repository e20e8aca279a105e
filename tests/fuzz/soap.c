/* Answers of SOAP peers: parsed, and every part of them read in every way. */
#include "net/soap.h"
#include "net/vsphere/task.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct soap_answer answer;
    struct err err;

    if (soap_parse((const char *)data, size, &answer, &err) < 0)
        return 0;
    struct arena a = {0};
    read_all(answer.payload, &a, 0);
    arena_release(&a);
    soap_answer_release(&answer);
    return 0;
}
