/* remote_address.h: "user@host:port" as configurations write it, for ssh, libvirt and a relay's shell. What
 * is accepted can be a word of a command line: no option, and nothing that a shell interprets. */
#ifndef BALLAST_BASE_REMOTE_ADDRESS_H
#define BALLAST_BASE_REMOTE_ADDRESS_H

#include <stdbool.h>

#define REMOTE_PART_MAX 256

struct remote_address {
    char user[REMOTE_PART_MAX]; /* "": none */
    char host[REMOTE_PART_MAX]; /* without brackets */
    unsigned port;              /* 0: none */
};

/* "user@host", "user@host:port", "user@[address]:port"; the user may be left out. -EINVAL. */
int remote_address_parse(const char *text, struct remote_address *ret);

/* Letters, digits and some others, and no dash in front. */
bool remote_address_is_plain_word(const char *word, const char *others);

/* Whether it can be the name of an interface. */
bool remote_address_is_interface(const char *name);

#endif
