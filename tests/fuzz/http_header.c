/* Headers of a request, and the cursor of a page, which a client may have made up. */
#include "http/header.h"
#include "http/list_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ETAG "\"0123456789abcdef\""
#define REPLY                                                                                                \
    "{\"ok\": true, \"hosts\": [{\"id\": \"h1\", \"name\": \"a\"}, {\"id\": \"h2\", \"name\": \"b\"}], "     \
    "\"time\": 1}\n"

static void check_headers(const char *text)
{
    uint64_t id = UINT64_MAX;

    if (header_has_etag(text, ETAG) && strcmp(text, "*") != 0 && !strstr(text, ETAG))
        abort();
    if (header_is_json(text) && strlen(text) < strlen("application/json"))
        abort();
    if (!header_names_host(text, text) || (header_names_host(text, "localhost:1") && strlen(text) < 9))
        abort();
    if (header_event_id(text, &id) != (id != UINT64_MAX) || (id != UINT64_MAX && id > INT64_MAX))
        abort();
}

static void check_cursor(const char *text)
{
    struct strbuf s;
    struct iovec parts[3], one;
    char more[LIST_TEXT_CURSOR_SIZE];

    strbuf_init(&s, STRBUF_NO_LIMIT);
    strbuf_puts(&s, REPLY);
    struct shared_text *whole = shared_text_new(&s);
    struct list_text *list = list_text_new(whole, "hosts");
    const int r = list_text_page(list, text, 1, parts, more);

    if ((r != 0 && r != -EINVAL) || (r == 0 && strlen(more) >= sizeof more))
        abort();
    if (list_text_find(list, text, &one) && (one.iov_len < 2 || *(char *)one.iov_base != '{'))
        abort();
    list_text_unref(list);
    shared_text_unref(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_headers(text);
    check_cursor(text);
    free(text);
    return 0;
}
