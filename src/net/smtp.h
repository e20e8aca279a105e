/* smtp.h: gives one message to a mail server by SMTP (RFC 5321), within a deadline, with libcurl.
 *
 * The message is whole (RFC 5322), its lines end with CRLF; libcurl doubles dots at the beginning of lines.
 * Addresses and the message must not hold other control characters; the callers check. */
#ifndef BALLAST_NET_SMTP_H
#define BALLAST_NET_SMTP_H

#include <ballast/err.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMTP_REPLY_MAX 256

struct smtp_mail {
    const char *url; /* smtp://host:port or smtps://host:port */
    bool starttls;   /* smtp: not without TLS */
    bool tls_verify;
    const char *ca_file;             /* PEM; NULL: the system's certificates */
    const char *username, *password; /* NULL: no login */
    const char *from, *const *to;    /* addresses; to: NULL at the end */
    const char *text;                /* NULL: only connects and logs in, and sends nothing */
    size_t len;
    int64_t deadline_ms; /* on the clock of net_now_ms() */
    const atomic_bool *stop;
};

struct smtp_reply {
    long code;                 /* the server's last, 250, 550, ...; 0: none */
    char text[SMTP_REPLY_MAX]; /* its last line, as it came, without the line's end; "" */
    /* The mail was taken, but not for all recipients: what was said of the first other one; "": for all. */
    char refused[SMTP_REPLY_MAX];
};

/* -EACCES: the login is refused; -EPERM: the sender, all recipients or the message is; -EKEYREJECTED: the
 * certificate is not trusted, or there is no TLS; -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH, -ECONNRESET,
 * -ECANCELED (stop), -EPROTO. The sentence begins with the URL. */
int smtp_send(const struct smtp_mail *m, struct smtp_reply *ret, struct err *err);

#endif
