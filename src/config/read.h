/* read.h: from the tree of a file to values, by a table of keys. Inside config only. */
#ifndef BALLAST_CONFIG_READ_H
#define BALLAST_CONFIG_READ_H

#include "config/config.h"
#include "config/tree.h"

/* The warnings so far; shared by all the readers of a file. */
struct notes {
    const char **items;
    size_t cap;
};

/* One section of the file that a table describes: the whole, or one host below power.hosts. */
struct reader {
    const char *file;   /* for the sentences */
    const char *prefix; /* "" or "power.hosts.esx1." */
    const struct config_key *keys;
    size_t n_keys;
    unsigned *lines; /* by key: where it was given, 0 if it was not */
    void *base;      /* the struct that the offsets are in */
    enum config_use use;
    struct config *config;
    struct notes *notes;
    struct arena *a;
    struct err *err;
};

/* A reader for a table, with room for its lines. */
struct reader reader_make(const struct reader *like, const char *prefix, const struct config_key *keys,
                          size_t n, void *base);

/* Sets what has a default to it. */
void read_defaults(const struct reader *r);

/* Sets what the mapping gives. -EINVAL with the line. */
int read_section(const struct reader *r, const struct node *map);

/* Reads the password from the file that the key named; does nothing if it named none, or if the file is read
 * for its policy only. -EINVAL with the line. */
int read_secret(const struct reader *r, const char *key, const char *path, const char **ret);

/* host, host:port or [address]:port; without userinfo. */
bool read_is_authority(const char *s, size_t len);

/* "is a list", for a sentence. */
const char *read_kind_of(const struct node *n);

/* The line where the key was given, or that of the nearest section that is there, or 1. */
unsigned read_line(const struct reader *r, const struct node *root, const char *path);

/* Whether the key was given. */
bool read_given(const struct reader *r, const char *path);

void config_warn(const struct reader *r, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
