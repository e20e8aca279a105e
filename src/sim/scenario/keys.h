/* keys.h: from the tree of a scenario's file to values, by tables of keys. Inside scenario only.
 *
 * A table lists what a section may have: a key's type, range and meaning, and where the value goes. Reading a
 * section again into the same struct replaces what it gives and leaves the rest, which is how the entries of
 * `cycle` and `split` vary a group.
 */
#ifndef BALLAST_SIM_SCENARIO_KEYS_H
#define BALLAST_SIM_SCENARIO_KEYS_H

#include "config/tree.h"
#include "sim/scenario/scenario.h"

/* Lines from here on stand for the overrides, by number. */
#define OVERRIDE_LINES 0x80000000u

struct workload_spec;

struct source_file {
    const char *name; /* for sentences */
    const struct scenario_options *options;
    const struct workload_spec *source; /* what traces begin with */
    struct arena *a;
    struct err *err;
};

enum key_type {
    KEY_NUMBER, /* double */
    KEY_COUNT,  /* uint32_t */
    KEY_BOOL,   /* bool */
    KEY_TEXT,   /* const char * */
    KEY_PATH,   /* const char *; a relative one is meant from the scenario's folder */
    KEY_WORD,   /* int; the number of the word */
    KEY_NODE,   /* const struct node *; read later */
    KEY_OWN,    /* whatever .read makes of it */
};

struct key;
typedef int key_reader(const struct source_file *f, const struct node *n, const char *path, void *at);

struct key {
    const char *name;
    enum key_type type;
    size_t offset;
    double min, max;          /* KEY_NUMBER, KEY_COUNT; inclusive */
    const char *const *words; /* KEY_WORD; NULL at the end */
    key_reader *read;         /* KEY_OWN */
    const char *meaning;      /* with its unit */
};

/* A table with its size, for where one is handed on. */
struct keys {
    const struct key *items;
    size_t n;
};

#define KEYS_OF(array) ((struct keys){(array), sizeof(array) / sizeof(array)[0]})

/* Reads the section into *base. path is that of the section with a dot at the end ("vms.0."), "" for the
 * whole. */
int keys_read(const struct source_file *f, const struct node *map, const char *path, struct keys keys,
              void *base);

/* One value, into `at`. */
int key_read(const struct source_file *f, const struct node *n, const char *path, const struct key *key,
             void *at);

/* "FILE:LINE" or "--set PATH". */
const char *file_place(const struct source_file *f, unsigned line);

/* -EINVAL with "FILE:LINE: ...". */
int file_refuse(const struct source_file *f, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "is "tru"", cut to a sane length, or "is a list", ... */
const char *node_shown(const struct source_file *f, const struct node *n);

/* "a, b or c". */
const char *words_shown(const struct source_file *f, const char *const *words);

/* The node is a list; *ret_n its entries, at most `most`. */
int list_check(const struct source_file *f, const struct node *n, const char *path, const char *expected,
               size_t most);

/* The path as it is meant: from the scenario's folder. */
const char *file_relative(const struct source_file *f, const char *path);

#endif
