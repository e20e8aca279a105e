/* pipeline.c: copies a pipeline and looks through its expressions, by the tables of its fields. */
#include "model/pipeline.h"

#include "model/expression.h"
#include "model/snapshot_fields.h"

#include <string.h>

struct seen_pipeline pipeline_copy(const struct seen_pipeline *p, struct arena *a)
{
    struct seen_pipeline copy = *p; /* with what is given, for which no field is */

    for (size_t i = 0; i < snapshot_fields_pipeline.n; i++)
        field_copy(&snapshot_fields_pipeline.fields[i], p, &copy, a);
    return copy;
}

static bool is_kind_of_tags(const char *kind)
{
    return kind && strncmp(kind, GROUP_KIND_OF_TAGS, strlen(GROUP_KIND_OF_TAGS)) == 0;
}

static bool reads_labels(const struct expression *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expression_node *node = &x->nodes[i];

        if (node->kind == EXPRESSION_VARIABLE &&
            (node->variable == VARIABLE_HOST_LABEL || node->variable == VARIABLE_VM_LABEL))
            return true;
        if (node->kind == EXPRESSION_OPERATOR && node->op >= OPERATOR_ANY_GROUP &&
            node->op <= OPERATOR_MOST_OF_GROUPS && is_kind_of_tags(x->nodes[i + 1].is.text))
            return true;
    }
    return false;
}

bool pipeline_reads_labels(const struct seen_pipeline *p)
{
    const struct schema *schema = &snapshot_fields_stage;
    const struct stage_facts *stages = p->stages.items;

    for (size_t i = 0; i < p->stages.n; i++)
        if (is_kind_of_tags(stages[i].over))
            return true;
    for (size_t i = 0; i < p->stages.n * schema->n; i++) {
        const struct field *f = &schema->fields[i % schema->n];
        const char *stage = (const char *)&stages[i / schema->n];

        if (f->write == expression_write && reads_labels((const struct expression *)(stage + f->offset)))
            return true;
    }
    return false;
}
