/* section.h: the file, or the section of a host below power.hosts, during checks. Inside config only. */
#ifndef BALLAST_CONFIG_SECTION_H
#define BALLAST_CONFIG_SECTION_H

#include "config/config.h"
#include "schema/reader.h"

/* The warnings so far; all sections of a file share them. */
struct notes {
    const char **items;
    size_t cap;
};

struct section {
    struct reader reader;    /* its context is the struct config */
    const struct node *root; /* the root of paths; NULL: the section is absent */
    const char *prefix;      /* of keys in errors: "" or "power.hosts.esx1." */
    enum config_use use;
    struct config *config;
    struct notes *notes;
};

/* Another section of the file. */
struct section section_at(const struct section *like, const char *prefix, const struct node *root);

/* The line of the key, or of the nearest section around it, or 1. */
unsigned section_line(const struct section *s, const char *path);

/* Whether the key was given. */
bool section_has(const struct section *s, const char *path);

/* What may be written as the value of the key at the path of a node; NULL: not known. */
const char *section_example(const char *path);

/* -EINVAL with "FILE:LINE: KEY ...", the line of section_line(). */
int section_refuse(const struct section *s, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void section_warn(const struct section *s, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A check as the packaged service's user: its unit keeps some files from it that this process can read. */
void section_warn_if_kept_away(const struct section *s, unsigned line, const char *path);

/* Reads the secrets from the files that the object's keys with this prefix ("mqtt.") name, and checks that
 * the other files are readable. If only the settings of a pass are needed, no file is opened. -EINVAL with
 * the line. */
int section_files(const struct section *s, const struct schema *keys, const char *below, void *object);

/* field_reader of sections that are read apart from the other keys: their text, to find the changes of a
 * reload; *at is a const char *. */
int section_text(const struct reader *r, const struct node *n, void *at);

/* The same of sections that may hold secrets; *at is a struct hidden_text. */
int section_hidden_text(const struct reader *r, const struct node *n, void *at);

#endif
