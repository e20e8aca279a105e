/* section.h: the file, or the part of it that one host below power.hosts has, while it is read and checked.
 * Inside config only. */
#ifndef BALLAST_CONFIG_SECTION_H
#define BALLAST_CONFIG_SECTION_H

#include "config/config.h"
#include "schema/reader.h"

/* The warnings so far; shared by all the sections of a file. */
struct notes {
    const char **items;
    size_t cap;
};

struct section {
    struct reader reader;    /* its context is the struct config */
    const struct node *root; /* what paths begin at; NULL: there is none */
    const char *prefix;      /* of keys in sentences: "" or "power.hosts.esx1." */
    enum config_use use;
    struct config *config;
    struct notes *notes;
};

/* The same file, another part of it. */
struct section section_at(const struct section *like, const char *prefix, const struct node *root);

/* The line where the key was given, or that of the nearest section that is there, or 1. */
unsigned section_line(const struct section *s, const char *path);

/* Whether the key was given. */
bool section_has(const struct section *s, const char *path);

/* -EINVAL with "FILE:LINE: KEY ...", the line as above. */
int section_refuse(const struct section *s, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void section_warn(const struct section *s, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads the secrets from the files that are named by keys of the object that begin so ("mqtt."), and looks
 * whether the others can be read that must be; no file is opened where the settings of a pass are all that
 * counts. -EINVAL with the line. */
int section_files(const struct section *s, const struct schema *keys, const char *below, void *object);

#endif
