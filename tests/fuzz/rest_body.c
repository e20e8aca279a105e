/* Bodies of oVirt's REST API: the first byte chooses XML or JSON and the version, the second one the kind.
 * What was read can be written, in both forms and versions, and read again. */
#include "http/rest/body.h"

#include <stdint.h>
#include <stdlib.h>

#define TAG_MOST 8000 /* bytes: longer tags of XML are refused */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *element = NULL;
    struct err err = {0};

    if (size < 2)
        return 0;
    const enum rest_format format = data[0] & 1 ? REST_JSON : REST_XML;
    const enum rest_kind kind = (enum rest_kind)(REST_API + data[1] % (REST_FAULT - REST_API + 1));
    const int e =
        rest_read(kind, format, data[0] & 2 ? 3 : 4, (const char *)data + 2, size - 2, &element, &err);

    if ((e < 0) != (element == NULL) || (e < 0) != (err.code != 0))
        abort();
    for (unsigned way = 0; element && way < 4; way++) {
        struct strbuf out = STRBUF_EMPTY;
        json_t *again = NULL;

        rest_write(kind, element, way & 1 ? REST_JSON : REST_XML, way & 2 ? 3 : 4, &out);
        if (out.len < TAG_MOST && rest_read(kind, way & 1 ? REST_JSON : REST_XML, way & 2 ? 3 : 4, out.text,
                                            out.len, &again, &err) < 0)
            abort();
        json_decref(again);
        strbuf_release(&out);
    }
    json_decref(element);
    return 0;
}
