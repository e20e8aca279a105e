/* The configuration file: any bytes give a message with a line, or a configuration that can be laid over a
 * cluster. */
#include "config/config.h"
#include "config/format.h"

#include "model/snapshot_build.h"
#include "overlay/overlay.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Two hosts and two VMs take whatever the configuration says. */
static void lay_over(const struct overlay *o, struct arena *a)
{
    struct inventory inv = {.cluster = "a", .time = 1767225600};
    struct snapshot s;

    for (int i = 1; i <= 2; i++) {
        struct seen_host *h = inventory_add_host(&inv, a);
        struct seen_vm *v = inventory_add_vm(&inv, a);

        host_facts_default(&h->is);
        h->is.id = arena_printf(a, "h%d", i);
        h->is.state = HOST_ON;
        h->is.cores = 4;
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 65536;
        v->is = (struct vm_facts){.vcpus = 1, .mem_mb = 1024};
        vm_facts_default(&v->is);
        v->is.id = arena_printf(a, "vm%d", i);
        v->is.folder = "/prod";
        v->is.state = VM_ON;
        v->host = h->is.id;
    }
    overlay_apply(o, &inv, a, NULL);
    if (snapshot_build(&inv, a, &s, NULL) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct config c = {0}, again = {0};
    struct config_change *changes;
    struct mistakes mistakes = {0};
    struct strbuf text = {0};
    struct err err = {0};
    int r = config_parse("f", (const char *)data, size, CONFIG_FOR_POLICY, &a, &c, &err);

    if (r < 0 && strncmp(err.text, "f:", 2) != 0)
        abort();
    strbuf_init(&text, STRBUF_NO_LIMIT);
    if (config_format("f", (const char *)data, size, &a, &text, &err) == 0 &&
        config_parse("f", text.text, text.len, CONFIG_FOR_POLICY, &a, &again, NULL) != r)
        abort();
    strbuf_release(&text);
    if (config_parse_all("f", (const char *)data, size, CONFIG_FOR_POLICY, &a, &again, &mistakes, NULL) != r)
        abort();
    if (r == 0) { /* read a second time it is the same, and every value can be told */
        if (config_parse("f", (const char *)data, size, CONFIG_FOR_POLICY, &a, &again, &err) < 0 ||
            config_changes(&c, &again, &a, &changes) != 0)
            abort();
        config_keep_fixed(&c, &again, true, &a);
        lay_over(&c.overlay, &a);
    }
    arena_release(&a);
    return 0;
}
