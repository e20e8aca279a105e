/* classes.c: makes expressions of conditions (predicates.c). Hosts with the same answers for all VMs are one
 * class of it. So a filter is: the host's class is among those that the VM's hint lists, or not among those
 * that it bars. */
#include "base/cleanup.h"
#include "dialect/ovirt/internal.h"

#include <string.h>

/* ---- classes of hosts ---- */

/* The class of each host, by the answers for all VMs ('0' or '1' each); one of each in ret_first. */
static uint32_t find_classes(const struct compiler *m, char *const *answers, uint32_t *of_host,
                             uint32_t *ret_first)
{
    CLEANUP(json_decrefp) json_t *by_answers = json_object();
    uint32_t n = 0;

    for (uint32_t h = 0; h < m->c->hosts.n; h++) {
        const json_t *known = json_object_get(by_answers, answers[h]);

        of_host[h] = known ? (uint32_t)json_integer_value(known) : n;
        if (!known) {
            (void)json_object_set_new(by_answers, answers[h], json_integer(n));
            ret_first[n++] = h;
        }
    }
    return n;
}

/* The classes with that answer. */
static json_t *list_classes(char *const *answers, const uint32_t *first, uint32_t n, uint32_t vm, char answer,
                            struct arena *a)
{
    json_t *ret = json_array();

    for (uint32_t i = 0; i < n; i++)
        if (answers[first[i]][vm] == answer)
            (void)json_array_append_new(ret, json_string(arena_printf(a, "%u", i)));
    return ret;
}

static char *const *ask(const struct compiler *m, size_t k)
{
    char **answers = arena_array(m->c->a, char *, m->c->hosts.n);

    for (uint32_t h = 0; h < m->c->hosts.n; h++) {
        answers[h] = arena_array(m->c->a, char, (size_t)m->c->vms.n + 1);
        for (uint32_t i = 0; i < m->c->vms.n; i++) {
            const struct pair p = {m->c, VM(m->c, i), HOST(m->c, h)};
            answers[h][i] = predicates[k].passes(&p) ? '1' : '0';
        }
    }
    return answers;
}

/* Sets the attributes and hints of the predicate; whether any host is refused. */
static bool set_classes(struct compiler *m, size_t k)
{
    const struct cloud *c = m->c;
    const char *name = predicates[k].name;
    uint32_t *of_host = arena_array(c->a, uint32_t, c->hosts.n);
    uint32_t *first = arena_array(c->a, uint32_t, c->hosts.n);
    char *const *answers = ask(m, k);
    uint32_t n_classes = find_classes(m, answers, of_host, first);
    bool any = false;

    for (uint32_t i = 0; i < c->vms.n; i++) {
        json_t *refuse = list_classes(answers, first, n_classes, i, '0', c->a);
        const size_t n = json_array_size(refuse);

        any = any || n > 0;
        if (n > n_classes / 2) /* the shorter list: a hint has no more than ATTRIBUTE_TEXTS_MAX texts */
            (void)json_object_set_new(m->hints[i], arena_printf(c->a, "%s keeps", name),
                                      list_classes(answers, first, n_classes, i, '1', c->a));
        else if (n > 0)
            (void)json_object_set(m->hints[i], arena_printf(c->a, "%s bars", name), refuse);
        json_decref(refuse);
    }
    for (uint32_t h = 0; any && h < c->hosts.n; h++)
        (void)json_object_set_new(m->attributes[h], name, json_string(arena_printf(c->a, "%u", of_host[h])));
    return any;
}

json_t *classes_expression(struct compiler *m, const char *name)
{
    const json_t *known = json_object_get(m->known, name);
    size_t k = 0;

    while (strcmp(predicates[k].name, name) != 0)
        k++;
    if (!known) {
        (void)json_object_set_new(m->known, name, json_boolean(set_classes(m, k)));
        known = json_object_get(m->known, name);
    }
    if (!json_is_true(known))
        return NULL;
    return stages_expression(m,
                             "['and', ['or', ['not', ['given', '$vm.hints.%s keeps']], ['in', "
                             "'$host.attributes.%s', '$vm.hints.%s keeps']], ['or', ['not', ['given', "
                             "'$vm.hints.%s bars']], ['not', ['in', '$host.attributes.%s', "
                             "'$vm.hints.%s bars']]]]",
                             name, name, name, name, name, name);
}
