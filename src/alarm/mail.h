/* mail.h: a message as mail (RFC 5322), for a mail server or for a program such as sendmail.
 *
 * All of it is ASCII: a subject with other characters is in encoded words (RFC 2047), a text with others in
 * quoted-printable (RFC 2045). No header holds what came from outside but the subject, which has no line
 * ends. Auto-Submitted (RFC 3834) keeps automatic answers away; Message-ID is made from the message's id, so
 * that it is the same in each attempt. */
#ifndef BALLAST_ALARM_MAIL_H
#define BALLAST_ALARM_MAIL_H

#include "alarm/message.h"
#include "base/strbuf.h"

struct mail_route {
    const char *from;      /* NULL: left out */
    const char *const *to; /* NULL at the end; empty: left out */
    const char *eol;       /* "\r\n" for SMTP, "\n" for programs */
};

/* now: the time of sending. */
void alarm_mail(const struct alarm_message *m, const struct mail_route *route, instant_s now,
                struct strbuf *out);

#endif
