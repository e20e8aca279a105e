/* VMs to be placed, from files: read into a small cluster, which must stay valid. */
#include "base/strbuf.h"
#include "model/snapshot_build.h"
#include "model/vms_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* v1 runs, v2 is off, v3 is half of a pair. */
static const char cluster_text[] =
    "{\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\",\"time\":\"2026-01-01T00:00:00Z\",\"hosts\":["
    "{\"id\":\"h1\",\"state\":\"on\",\"cpu_mhz\":1000,\"cores\":2,\"mem_mb\":4096},"
    "{\"id\":\"h2\",\"state\":\"on\",\"cpu_mhz\":1000,\"cores\":2,\"mem_mb\":4096}],\"vms\":["
    "{\"id\":\"v1\",\"host\":\"h1\",\"state\":\"on\",\"vcpus\":1,\"mem_mb\":512},"
    "{\"id\":\"v2\",\"state\":\"off\",\"vcpus\":1,\"mem_mb\":512},"
    "{\"id\":\"v3\",\"state\":\"off\",\"vcpus\":1,\"mem_mb\":512,\"kind\":\"ft_secondary\"}],"
    "\"pools\":[{\"id\":\"p1\"}]}";

static void read_again(const struct snapshot *s, struct arena *a)
{
    struct strbuf text;
    struct inventory inv;
    struct snapshot again;
    struct err err = {0};

    strbuf_init(&text, STRBUF_NO_LIMIT);
    snapshot_dump(s, &text);
    if (snapshot_read_inventory(text.text, text.len, a, &inv, NULL, &err) < 0 ||
        snapshot_build(&inv, a, &again, &err) < 0)
        abort();
    strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct unknown_fields unknown = {0};
    struct inventory inv;
    struct snapshot cluster;
    struct vms_to_place v;
    struct err err = {0};

    if (snapshot_read_inventory(cluster_text, strlen(cluster_text), &a, &inv, NULL, &err) < 0 ||
        snapshot_build(&inv, &a, &cluster, &err) < 0)
        abort();
    bool good = vms_read((const char *)data, size, &cluster, &a, &v, &unknown, &err) == 0;
    if (good != (err.code == 0) || (!good && err.text[0] != '/'))
        abort();
    for (uint32_t i = 0; good && i < v.n; i++) {
        if (v.vms[i] >= v.snap.n_vms || v.snap.vms[v.vms[i]].is.state == VM_ON)
            abort();
    }
    for (int i = 0; good && i < VMS_IGNORED_COUNT; i++)
        (void)vms_json_ignored_text(&v, (enum vms_ignored)i, &a);
    if (good)
        read_again(&v.snap, &a);
    arena_release(&a);
    return 0;
}
