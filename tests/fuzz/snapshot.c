/* Snapshots from files: read, built, written, and then the same again, byte for byte. */
#include "base/strbuf.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct strbuf text[2];
    struct unknown_fields unknown = {0};
    struct inventory inv;
    struct snapshot s;
    struct err err = {0};

    strbuf_init(&text[0], STRBUF_NO_LIMIT);
    strbuf_init(&text[1], STRBUF_NO_LIMIT);
    bool good = snapshot_read_inventory((const char *)data, size, &a, &inv, &unknown, &err) == 0 &&
                snapshot_build(&inv, &a, &s, &err) == 0;
    if (good != (err.code == 0) || (!good && err.text[0] != '/'))
        abort();
    for (size_t i = 0; i < unknown.n; i++)
        (void)reader_unknown_text(&unknown.items[i], &a);
    if (good) {
        snapshot_dump(&s, &text[0]);
        if (snapshot_read_inventory(text[0].text, text[0].len, &a, &inv, NULL, &err) < 0 ||
            snapshot_build(&inv, &a, &s, &err) < 0)
            abort();
        snapshot_dump(&s, &text[1]);
        if (strcmp(text[0].text, text[1].text) != 0)
            abort();
    }
    strbuf_release(&text[0]);
    strbuf_release(&text[1]);
    arena_release(&a);
    return 0;
}
