/* vm.c: what filters set of the VM of a request, so that one pipeline reads the values of many VMs. */
#include "dialect/nova/internal.h"

#include <ballast/expression.h>

const char *vm_set(struct cloud *c, const struct request *r, const char *object, const char *name,
                   json_t *value)
{
    const char *variable = arena_printf(c->a, "$vm.%s.%s", object, name);
    json_t *of = json_object_get(r->vm, object);

    if (!of) {
        of = json_object();
        (void)json_object_set_new(r->vm, object, of);
    }
    (void)json_object_set_new(of, name, value);
    (void)json_object_set_new(c->given, variable, json_true());
    return variable;
}

bool vm_given(const struct cloud *c, const char *variable)
{
    return json_object_get(c->given, variable) != NULL;
}

void vm_set_needs(struct cloud *c, const struct request *r, const char *member, json_t *value)
{
    (void)json_object_set_new(r->vm, member, value);
    (void)json_object_set_new(c->given, member, json_true());
}

json_t *vm_unless_given(const char *variable, json_t *condition)
{
    return json_pack("[s, [s, [s, s]], o]", "or", "not", "given", variable, condition);
}

json_t *vm_texts_have(struct cloud *c, const struct request *r, const char *name, json_t *of,
                      const struct words *texts, bool negated)
{
    const char *variable = arena_printf(c->a, "$vm.hints.%s", name);

    if (texts && texts->n > ATTRIBUTE_TEXTS_MAX) { /* more than a value may have: constants */
        json_t *in = nova_expression_in(of, texts, c->a);
        return negated ? json_pack("[s, o]", "not", in) : in;
    }
    if (texts) {
        json_t *list = json_array();
        for (size_t i = 0; i < texts->n; i++)
            (void)json_array_append_new(list, json_string(texts->items[i]));
        (void)vm_set(c, r, "hints", name, list);
    }
    if (!vm_given(c, variable)) {
        json_decref(of);
        return NULL;
    }
    json_t *in = json_pack("[s, o, s]", "in", of, variable);

    return vm_unless_given(variable, negated ? json_pack("[s, o]", "not", in) : in);
}
