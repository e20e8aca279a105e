/* variables.c: the values of an expression's variables, by the facts of a host, a VM or a group. */
#include "core/fit/expression.h"

#include "model/attributes.h"
#include "model/quantities.h"

#include <math.h>
#include <string.h>

static const struct value absent = {.type = VALUE_ABSENT};

/* A snapshot's numbers are finite. */
static struct value number_value(double v)
{
    return (struct value){.type = VALUE_NUMBER, .number = v + 0.0};
}

enum expression_owner expression_owner_of(enum expression_variable variable)
{
    return variable >= VARIABLE_GROUP_ID ? OWNER_GROUP : variable >= VARIABLE_VM_ID ? OWNER_VM : OWNER_HOST;
}

static struct value text_value(const char *text)
{
    return text ? (struct value){.type = VALUE_TEXT, .text = text} : absent;
}

static struct value texts_value(struct ids texts)
{
    return (struct value){.type = VALUE_TEXTS, .texts = texts};
}

static struct value offer_value(const struct offer *o)
{
    return o->known ? texts_value(o->names) : absent;
}

static struct value label_value(const struct labels *of, const char *key)
{
    for (uint32_t i = 0; i < of->n; i++)
        if (strcmp(of->items[i].key, key) == 0)
            return text_value(of->items[i].value);
    return absent;
}

static struct value quantity_value(const struct host_quantities *of, const char *name)
{
    for (uint32_t i = 0; i < of->n; i++)
        if (strcmp(of->items[i].name, name) == 0)
            return number_value(quantity_limit(&of->items[i]));
    return absent;
}

struct value expression_host_value(const struct host *h, const struct expression_node *variable)
{
    const struct host_facts *f = &h->is;

    switch ((int)variable->variable) { /* the others are not a host's */
    case VARIABLE_HOST_ID:
        return text_value(f->id);
    case VARIABLE_HOST_NAME:
        return text_value(f->name);
    case VARIABLE_HOST_CORES:
        return number_value(f->cores);
    case VARIABLE_HOST_CPU_MHZ:
        return number_value(f->total[RES_CPU]);
    case VARIABLE_HOST_MEM_MB:
        return number_value(f->total[RES_MEM]);
    case VARIABLE_HOST_CPU_VENDOR:
        return text_value(f->cpu_vendor);
    case VARIABLE_HOST_TRAITS:
        return texts_value(f->traits);
    case VARIABLE_HOST_NETWORKS:
        return offer_value(&f->networks);
    case VARIABLE_HOST_DATASTORES:
        return offer_value(&f->datastores);
    case VARIABLE_HOST_DEVICES:
        return offer_value(&f->devices);
    case VARIABLE_HOST_CPU_MODES:
        return offer_value(&f->cpu_modes);
    case VARIABLE_HOST_LABEL:
        return label_value(&f->labels, variable->name);
    case VARIABLE_HOST_QUANTITY:
        return quantity_value(&f->quantities, variable->name);
    case VARIABLE_HOST_OVER:
        return isnan(f->over_s) ? absent : number_value(f->over_s);
    case VARIABLE_HOST_ATTRIBUTE:
        return attributes_find(&f->attributes, variable->name);
    default:
        return absent;
    }
}

const struct unit_answer *expression_answer(const struct vm *v, const char *unit)
{
    for (uint32_t i = 0; i < v->n_answers; i++)
        if (strcmp(v->answers[i]->unit, unit) == 0)
            return v->answers[i];
    return NULL;
}

/* The number of the answer: what it says of each host is looked up there. */
static struct value answer_value(const struct vm *v, const char *unit)
{
    const struct unit_answer *x = expression_answer(v, unit);

    return x && answer_counts(x) ? number_value(x->ix) : absent;
}

struct value expression_vm_value(const struct snapshot *s, uint32_t vm,
                                 const struct expression_node *variable)
{
    const struct vm *v = &s->vms[vm];
    const struct vm_facts *f = &v->is;

    switch ((int)variable->variable) { /* the others are not a VM's */
    case VARIABLE_VM_ID:
        return text_value(f->id);
    case VARIABLE_VM_NAME:
        return text_value(f->name);
    case VARIABLE_VM_VCPUS:
        return number_value(f->vcpus);
    case VARIABLE_VM_MEM_MB:
        return number_value(f->mem_mb);
    case VARIABLE_VM_CPU_MHZ:
        return number_value(f->demand[RES_CPU]);
    case VARIABLE_VM_HOST:
        return f->state == VM_ON && v->host != IX_NONE ? text_value(s->hosts[v->host].is.id) : absent;
    case VARIABLE_VM_KIND:
        return text_value(vm_kind_name(f->kind));
    case VARIABLE_VM_FOLDER:
        return text_value(f->folder);
    case VARIABLE_VM_OWNER:
        return text_value(f->owner);
    case VARIABLE_VM_GROUPS:
        return texts_value(f->groups);
    case VARIABLE_VM_LABEL:
        return label_value(&f->labels, variable->name);
    case VARIABLE_VM_FLAVOR:
        return attributes_find(&f->flavor, variable->name);
    case VARIABLE_VM_IMAGE:
        return attributes_find(&f->image, variable->name);
    case VARIABLE_ANSWER:
    case VARIABLE_ANSWER_MULTIPLIER:
        return answer_value(v, variable->name);
    case VARIABLE_VM_HINT:
        return attributes_find(&f->hints, variable->name);
    default:
        return absent;
    }
}

struct value expression_group_value(const struct host_group *g, const struct expression_node *variable)
{
    switch ((int)variable->variable) { /* the others are not a group's */
    case VARIABLE_GROUP_ID:
        return text_value(g->is.id);
    case VARIABLE_GROUP_NAME:
        return text_value(g->is.name);
    case VARIABLE_GROUP_META:
        return label_value(&g->is.meta, variable->name);
    default:
        return absent;
    }
}
