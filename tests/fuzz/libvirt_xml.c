/* What a host sends as the description of a domain, as its capabilities, its CPU and as a storage pool. */
#include "collectors/libvirt/capabilities_xml.h"
#include "net/libvirt/domain_xml.h"
#include "net/libvirt/storage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    char *text = arena_strndup(&a, (const char *)data, size);
    struct domain_xml domain;
    struct capabilities_xml host;
    struct storage_pool pool;
    struct err err;

    (void)domain_xml_read(text, &a, &domain, &err);
    (void)capabilities_xml_read(text, &a, &host, &err);
    (void)capabilities_xml_features(text, &a);
    (void)storage_pool_read(text, &a, &pool, &err);
    arena_release(&a);
    return 0;
}
