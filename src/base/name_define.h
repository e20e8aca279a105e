/* name_define.h: defines the functions of a list of words that NAME_DECLARE() (names.h) declares.
 *
 *     NAME_DEFINE(host_state, HOST_STATES) */
#ifndef BALLAST_BASE_NAME_DEFINE_H
#define BALLAST_BASE_NAME_DEFINE_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct name_entry {
    const char *word;
    const char *meaning;
};

static inline int name_find(const struct name_entry *names, size_t n, const char *word, size_t *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i].word, word) == 0) {
            *ret = i;
            return 0;
        }
    }
    return -EINVAL;
}

#define NAME_ENTRY(e, w, m) {.word = (w), .meaning = (m)},
#define NAME_DEFINE(name, LIST)                                                                              \
    static const struct name_entry name##_names[] = {LIST(NAME_ENTRY)};                                      \
    const char *name##_name(enum name value)                                                                 \
    {                                                                                                        \
        return (unsigned)value < name##_count ? name##_names[value].word : "?";                              \
    }                                                                                                        \
    const char *name##_meaning(enum name value)                                                              \
    {                                                                                                        \
        return (unsigned)value < name##_count ? name##_names[value].meaning : "?";                           \
    }                                                                                                        \
    int name##_parse(const char *word, enum name *ret)                                                       \
    {                                                                                                        \
        size_t ix;                                                                                           \
        if (name_find(name##_names, name##_count, word, &ix) < 0)                                            \
            return -EINVAL;                                                                                  \
        *ret = (enum name)ix;                                                                                \
        return 0;                                                                                            \
    }

#endif
