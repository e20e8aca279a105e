#include <ballast/names.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct entry {
    const char *word;
    const char *meaning;
};

static int find(const struct entry *names, size_t n, const char *word, size_t *ret)
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
    static const struct entry name##_names[] = {LIST(NAME_ENTRY)};                                           \
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
        if (find(name##_names, name##_count, word, &ix) < 0)                                                 \
            return -EINVAL;                                                                                  \
        *ret = (enum name)ix;                                                                                \
        return 0;                                                                                            \
    }

NAME_DEFINE(host_state, HOST_STATES)
NAME_DEFINE(vm_state, VM_STATES)
NAME_DEFINE(vm_kind, VM_KINDS)
NAME_DEFINE(automation, AUTOMATIONS)
NAME_DEFINE(rule_kind, RULE_KINDS)
NAME_DEFINE(ha_policy, HA_POLICIES)
NAME_DEFINE(mem_admission, MEM_ADMISSIONS)
NAME_DEFINE(action_kind, ACTION_KINDS)
NAME_DEFINE(reason, REASONS)
NAME_DEFINE(fault_code, FAULT_CODES)
NAME_DEFINE(verdict, VERDICTS)
NAME_DEFINE(check, CHECKS)
NAME_DEFINE(power_check, POWER_CHECKS)
NAME_DEFINE(action_state, ACTION_STATES)
NAME_DEFINE(change_kind, CHANGE_KINDS)
