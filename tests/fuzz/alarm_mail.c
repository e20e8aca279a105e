/* A mail of any text is ASCII, its headers are those that it should have, and no line is too long. */
#include "alarm/mail.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static void expect(bool true_)
{
    if (!true_)
        abort();
}

static void check(const char *mail)
{
    static const char *const names[] = {"Date: ",         "From: ",         "To: ",
                                        "Subject:",       "Message-ID: ",   "Auto-Submitted: ",
                                        "MIME-Version: ", "Content-Type: ", "Content-Transfer-Encoding: "};
    size_t n = 0;
    const char *line = mail;

    for (; strncmp(line, "\r\n", 2) != 0; line = strstr(line, "\r\n") + 2) {
        expect(strstr(line, "\r\n") != NULL && strcspn(line, "\r\n") <= 998);
        if (*line == ' ') /* goes on */
            continue;
        expect(n < sizeof names / sizeof *names && strncmp(line, names[n], strlen(names[n])) == 0);
        n++;
    }
    expect(n == sizeof names / sizeof *names);
    for (const char *c = mail; *c; c++)
        expect((unsigned char)*c < 0x80 && (*c != '\n' || c[-1] == '\r') && (*c != '\r' || c[1] == '\n'));
    for (const char *l = line; *l; l += strcspn(l, "\n") + (l[strcspn(l, "\n")] == '\n'))
        expect(strcspn(l, "\n") <= 998);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const to[] = {"ops@example.com", "b@example.com", NULL};
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf mail = {0};
    const struct alarm_origin o = {.cluster = arena_strndup(&a, (const char *)data, size / 2),
                                   .instance = "0123456789abcdef",
                                   .target = "ops"};
    struct alarm_batch b = {.n = 1, .upto = 7, .worst = "warning"};
    struct alarm_message m;

    b.listed[0] = (struct alarm_event){.time = 1,
                                       .severity = "warning",
                                       .kind = "fault",
                                       .text = arena_strndup(&a, (const char *)data, size),
                                       .json = "{}"};
    alarm_message_of_events(&o, &b, &a, &m);
    strbuf_init(&mail, STRBUF_NO_LIMIT);
    alarm_mail(&m, &(struct mail_route){.from = "a@example.com", .to = to, .eol = "\r\n"}, 1767225600, &mail);
    check(mail.text);
    strbuf_clear(&mail);
    m.text = arena_strndup(&a, (const char *)data, size);
    alarm_mail(&m, &(struct mail_route){.from = "a@example.com", .to = to, .eol = "\r\n"}, 1767225600, &mail);
    check(mail.text);
    return 0;
}
