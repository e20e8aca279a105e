/* entitlements.c: the entitlement tree as JSON and as text. */
#include "base/cleanup.h"
#include "base/natural.h"
#include "model/refs.h"
#include "render/render.h"
#include "render/table.h"

#include <stdlib.h>

#define INDENT_DEPTH_MAX 20 /* past it a tree is too deep to be shown as one */

static const char *const res_word[RES_COUNT] = {[RES_CPU] = "cpu", [RES_MEM] = "mem"};
static const char *const res_title[RES_COUNT] = {[RES_CPU] = "CPU, in MHz", [RES_MEM] = "Memory, in MiB"};

static const char *node_id(const struct snapshot *s, const struct divvy_node *n)
{
    return n->kind == DIVVY_VM ? ref_vm_id(s, n->ix) : ref_pool_id(s, n->ix);
}

static void put_triple(struct json_writer *w, const char *key, double reservation, double limit,
                       double shares)
{
    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    jw_figure(w, "reservation", reservation);
    jw_figure(w, "limit", limit);
    jw_figure(w, "shares", shares);
    jw_end(w);
}

static uint32_t depth_of(const struct snapshot *s, const struct vm *v)
{
    uint32_t depth = 1;

    for (uint32_t p = v->pool; p != IX_NONE; p = s->pools[p].parent)
        depth++;
    return depth;
}

/* VMs that take no part (off, or on a host that is not seen) are listed too: entitled to nothing, as they
 * want nothing. */
static void put_absent_vms(struct json_writer *w, const struct snapshot *s, int r)
{
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];
        if (vm_takes_part(s, v))
            continue;
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "kind", "vm");
        jw_text(w, "id", v->is.id);
        jw_text(w, "parent", v->pool == IX_NONE ? NULL : ref_pool_id(s, v->pool));
        jw_int(w, "depth", depth_of(s, v));
        put_triple(w, "set", v->is.alloc[r].reservation, v->is.alloc[r].limit, v->is.alloc[r].shares);
        jw_figure(w, "demand", 0);
        put_triple(w, "divvied", 0, 0, 0);
        jw_figure(w, "entitlement", 0);
        jw_end(w);
    }
}

void render_entitlements_json(const struct snapshot *snap, const struct divvy_tree *const trees[RES_COUNT],
                              struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "format", "ballast-entitlements/1");
    for (int r = 0; r < RES_COUNT; r++) {
        if (!trees[r])
            continue;
        jw_begin(&w, res_word[r], JW_ARRAY, JW_LINES);
        for (uint32_t i = 0; i < trees[r]->n; i++) {
            const struct divvy_node *n = &trees[r]->nodes[i];
            jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
            jw_text(&w, "kind", n->kind == DIVVY_VM ? "vm" : "pool");
            jw_text(&w, "id", node_id(snap, n));
            jw_text(&w, "parent", n->parent == IX_NONE ? NULL : node_id(snap, &trees[r]->nodes[n->parent]));
            jw_int(&w, "depth", n->depth);
            put_triple(&w, "set", n->set.reservation, n->set.limit, n->set.shares);
            jw_figure(&w, "demand", n->demand);
            put_triple(&w, "divvied", n->divvied.reservation, n->divvied.limit, n->divvied.shares);
            jw_figure(&w, "entitlement", n->entitlement);
            jw_end(&w);
        }
        put_absent_vms(&w, snap, r);
        jw_end(&w);
    }
    jw_end(&w);
}

static const char *node_label(const struct snapshot *s, const struct divvy_node *n, struct arena *a)
{
    int indent = 2 * (int)(n->depth < INDENT_DEPTH_MAX ? n->depth : INDENT_DEPTH_MAX);

    if (n->ix == IX_NONE)
        return "the cluster";
    if (n->kind == DIVVY_VM)
        return arena_printf(a, "%*s%s", indent, "", ref_vm_name(s, n->ix));
    return arena_printf(a, "%*s%s/", indent, "", ref_pool_name(s, n->ix));
}

static void put_node(struct table *t, const struct snapshot *s, const struct divvy_node *n, bool wide)
{
    table_cell(t, node_label(s, n, t->a));
    table_number(t, n->set.reservation);
    table_number(t, n->set.limit);
    table_number(t, n->set.shares);
    if (wide) {
        table_number(t, n->divvied.reservation);
        table_number(t, n->divvied.limit);
    }
    table_number(t, n->demand);
    table_number(t, n->entitlement);
    if (n->demand > 0)
        table_cellf(t, "%.0f %%", 100 * fmin(1, n->entitlement / n->demand));
    else
        table_cell(t, NULL);
}

static const char *node_name(const struct snapshot *s, const struct divvy_node *n)
{
    return n->kind == DIVVY_VM ? ref_vm_name(s, n->ix) : ref_pool_name(s, n->ix);
}

/* The last first, for a stack: VMs, then pools, each by name. */
static int compare_backwards(const void *a, const void *b, void *snap)
{
    const struct divvy_node *const *x = a;
    const struct divvy_node *const *y = b;

    if ((*x)->kind != (*y)->kind)
        return (*x)->kind == DIVVY_POOL ? 1 : -1;
    return natural_compare(node_name(snap, *y), node_name(snap, *x));
}

/* Depth first, with a stack of its own: what a snapshot says must not decide how deep this program calls. */
static void put_tree(const struct snapshot *s, const struct divvy_tree *tree, bool wide, struct arena *a,
                     struct table *t)
{
    const struct divvy_node **stack = arena_array(a, const struct divvy_node *, tree->n);
    size_t depth = 0;

    if (tree->n == 0)
        return;
    stack[depth++] = &tree->nodes[0];
    while (depth > 0) {
        const struct divvy_node *n = stack[--depth];
        const struct divvy_node **children = stack + depth;
        put_node(t, s, n, wide);
        for (uint32_t c = 0; c < n->n_children; c++)
            children[c] = &tree->nodes[n->first_child + c];
        qsort_r(children, n->n_children, sizeof *children, compare_backwards, (void *)(uintptr_t)s);
        depth += n->n_children;
    }
}

void render_entitlements_text(const struct snapshot *snap, const struct divvy_tree *const trees[RES_COUNT],
                              bool wide, struct strbuf *out)
{
    static const struct column columns[] = {
        {"NAME", false},  {"RESERVED", true}, {"LIMIT", true}, {"SHARES", true},
        {"DEMAND", true}, {"ENTITLED", true}, {"MET", true},
    };
    static const struct column wide_columns[] = {
        {"NAME", false},  {"RESERVED", true},     {"LIMIT", true},
        {"SHARES", true}, {"DIVVIED RES.", true}, {"DIVVIED LIMIT", true},
        {"DEMAND", true}, {"ENTITLED", true},     {"MET", true},
    };
    CLEANUP(arena_releasep) struct arena scratch = {0};
    bool first = true;

    for (int r = 0; r < RES_COUNT; r++) {
        struct table t = wide ? table_of(&scratch, wide_columns, sizeof wide_columns / sizeof *wide_columns)
                              : table_of(&scratch, columns, sizeof columns / sizeof *columns);
        if (!trees[r])
            continue;
        strbuf_printf(out, "%s%s\n\n", first ? "" : "\n", res_title[r]);
        first = false;
        if (wide)
            t.width = TABLE_WIDTH_ANY;
        put_tree(snap, trees[r], wide, &scratch, &t);
        table_render(&t, "  ", out);
        if (trees[r]->overcommitted) {
            const struct divvy_node *n = &trees[r]->nodes[trees[r]->overcommitted_node];
            const char *where = n->ix == IX_NONE
                                    ? "the cluster"
                                    : arena_printf(&scratch, "pool %s", ref_pool_name(snap, n->ix));
            strbuf_puts(out, "\n");
            table_put_wrapped(out,
                              arena_printf(&scratch,
                                           "The reservations in %s exceed its capacity and were scaled down.",
                                           where),
                              2);
        }
    }
}
