/* Answers of a vCenter as pages of an inventory, as lists of counters, as measurements and as privileges, and
 * their mapping. The envelope is added here, as tests/replies/server.py does; the target soap tests
 * envelopes. */
#include "base/strbuf.h"
#include "collectors/vsphere/counters.h"
#include "collectors/vsphere/vs_devices.h"
#include "collectors/vsphere/vs_privileges.h"
#include "model/snapshot_build.h"

#include <stdlib.h>
#include <string.h>

static const char head[] = "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" "
                           "xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" "
                           "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><soapenv:Body>";
static const char tail[] = "</soapenv:Body></soapenv:Envelope>";

static int by_id(const void *a, const void *b)
{
    return strcmp((*(struct vs_inventory_vm *const *)a)->id, (*(struct vs_inventory_vm *const *)b)->id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct soap_answer answer = {0};
    struct vs_inventory s;
    struct inventory inv;
    struct snapshot snap;
    struct counters c;
    struct err err;
    char token[64];
    size_t count = 0;
    struct strbuf text;

    strbuf_init(&text, STRBUF_NO_LIMIT);
    strbuf_puts(&text, head);
    strbuf_add(&text, data, size);
    strbuf_puts(&text, tail);
    vs_inventory_init(&s, &a);
    const struct vsphere_reader reader = {
        .begin = vs_inventory_begin, .object = vs_inventory_object, .ctx = &s};
    struct idmap granted = {0};
    bool parsed = soap_parse(text.text, text.len, &answer, &err) == 0 && answer.payload;

    if (parsed)
        (void)vs_privileges_read(answer.payload, &a, &granted, &err);
    if (parsed && vsphere_read_page(answer.payload, &reader, token, sizeof token, &count, &err) == 0) {
        struct vm_devices devices = {0};

        vs_devices_read(xml_child(answer.payload, "returnval/objects/propSet/val"), &a, &devices);
        s.evc = vs_inventory_evc_modes(xml_child(answer.payload, "returnval/objects/propSet/val"), &a);
        for (size_t i = 0; i < s.n_vms; i++)
            s.vms[i].devices = &devices;
        counters_read_numbers(xml_child(answer.payload, "returnval/objects/propSet/val"), &c);
        for (int i = 0; i < COUNTER_COUNT; i++)
            c.number[i] = c.number[i] < 0 ? 100 + i : c.number[i];
        struct vs_inventory_vm **vms = arena_array(&a, struct vs_inventory_vm *, s.n_vms);

        for (size_t i = 0; i < s.n_vms; i++)
            vms[i] = &s.vms[i];
        qsort(vms, s.n_vms, sizeof *vms, by_id);
        (void)counters_read(&c, answer.payload, vms, s.n_vms);
        counters_read_hosts(&c, answer.payload, &s);
        if (vs_inventory_map(&s, &inv, &err) == 0)
            (void)snapshot_build(&inv, &a, &snap, &err);
    }
    idmap_release(&granted, NULL);
    soap_answer_release(&answer);
    strbuf_release(&text);
    arena_release(&a);
    return 0;
}
