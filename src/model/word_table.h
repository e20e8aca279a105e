/* word_table.h: the words of an enum for tables, which keep values as plain numbers.
 *
 *     WORD_FUNCTIONS(host_state)      host_state_read() and host_state_write(), static
 */
#ifndef BALLAST_MODEL_WORD_TABLE_H
#define BALLAST_MODEL_WORD_TABLE_H

#define WORD_FUNCTIONS(name)                                                                                 \
    static int name##_read(const char *word, int *ret)                                                       \
    {                                                                                                        \
        enum name value;                                                                                     \
        int r = name##_parse(word, &value);                                                                  \
        if (r == 0)                                                                                          \
            *ret = (int)value;                                                                               \
        return r;                                                                                            \
    }                                                                                                        \
    static const char *name##_write(int value)                                                               \
    {                                                                                                        \
        return name##_name((enum name)value);                                                                \
    }

#endif
