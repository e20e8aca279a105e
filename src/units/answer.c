/* answer.c: reads a line of an external unit, and refuses what does not answer the question. */
#include "units/answer.h"

#include "base/cleanup.h"
#include "base/order.h"
#include "model/answers.h"
#include "schema/json_tree.h"
#include "schema/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct seen_answer, member)
static const struct field answer_fields[] = {
    {.name = "vms", .type = FIELD_IDS, .offset = AT(vms), .flags = FIELD_REQUIRED},
    {.name = "hosts", .type = FIELD_IDS, .offset = AT(hosts), .given = AT(hosts_given)},
    {.name = "scores",
     .type = FIELD_OWN,
     .offset = AT(scores),
     .given = AT(scores_given),
     .read = answer_scores_read},
    {.name = "multipliers",
     .type = FIELD_OWN,
     .offset = AT(multipliers),
     .given = AT(multipliers_given),
     .read = answer_scores_read},
    {.name = "words", .type = FIELD_TEXT, .offset = AT(words), .flags = FIELD_NULLABLE},
    {.name = "error", .type = FIELD_TEXT, .offset = AT(error), .flags = FIELD_NULLABLE},
};
#undef AT

static const struct schema answer_schema = SCHEMA_OF("answer", answer_fields);

/* What is being read. */
struct reading {
    const struct reader *r;
    const struct snapshot *s;
    const struct batch *batch;
    bool *answered; /* by VM of the batch */
    bool *listed;   /* scratch, by host */
};

/* Text for a person: one line, cut to its length between two characters. */
static const char *clean(struct arena *a, const char *text)
{
    char *copy = text ? arena_strdup(a, text) : NULL;
    size_t len = copy ? strlen(copy) : 0;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)copy[i] < ' ' || copy[i] == 0x7f)
            copy[i] = ' ';
    if (len > UNIT_WORDS_MAX) {
        len = UNIT_WORDS_MAX;
        while (len > 0 && ((unsigned char)copy[len] & 0xc0) == 0x80)
            len--;
        copy[len] = '\0';
    }
    return copy;
}

static int check_vms(const struct reading *x, const struct node *n, const struct ids *vms)
{
    for (uint32_t i = 0; i < vms->n; i++) {
        uint32_t ix = snapshot_find_vm(x->s, vms->items[i]);
        const uint32_t *at =
            x->batch->n > 0 ? bsearch(&ix, x->batch->vms, x->batch->n, sizeof ix, order_indexes) : NULL;

        if (!at)
            return reader_complain(x->r, n, "about the VM \"%.100s\", which was not asked about",
                                   vms->items[i]);
        if (x->answered[at - x->batch->vms])
            return reader_complain(x->r, n, "about the VM \"%.100s\" twice", vms->items[i]);
        x->answered[at - x->batch->vms] = true;
    }
    return 0;
}

static int check_hosts(const struct reading *x, const struct node *n, const struct ids *hosts)
{
    memset(x->listed, 0, x->s->n_hosts * sizeof *x->listed);
    for (uint32_t i = 0; i < hosts->n; i++) {
        uint32_t ix = snapshot_find_host(x->s, hosts->items[i]);

        if (ix == IX_NONE)
            return reader_complain(x->r, n, "about the host \"%.100s\", which is not there", hosts->items[i]);
        if (x->listed[ix])
            return reader_complain(x->r, n, "about the host \"%.100s\" twice", hosts->items[i]);
        x->listed[ix] = true;
    }
    return 0;
}

static int read_answer(const struct reading *x, const struct node *n, struct seen_answer *ret)
{
    int r = reader_object(x->r, n, &answer_schema, ret);
    const char *mistake = r == 0 ? answer_mistake(ret) : NULL;

    if (mistake)
        return reader_complain(x->r, n, "%s", mistake);
    ret->words = clean(x->r->a, ret->words);
    ret->error = clean(x->r->a, ret->error);
    return r < 0 || (r = check_vms(x, n, &ret->vms)) < 0 ? r : check_hosts(x, n, &ret->hosts);
}

/* The VMs of the batch about which nothing was said, or all of them, with this error. */
static void add_error(const struct reading *x, const char *why, struct seen_answer *items, size_t *n)
{
    const char **ids = arena_array(x->r->a, const char *, x->batch->n);
    uint32_t missing = 0;

    for (uint32_t i = 0; i < x->batch->n; i++)
        if (!x->answered[i])
            ids[missing++] = x->s->vms[x->batch->vms[i]].is.id;
    if (missing > 0)
        items[(*n)++] = (struct seen_answer){.vms = {ids, missing}, .error = why};
}

static int read_list(const struct reading *x, const struct node *list, struct seen_answer **ret,
                     size_t *ret_n)
{
    struct seen_answer *items = arena_array(x->r->a, struct seen_answer, list->n + 1);
    size_t n = 0;
    int r = 0;

    if (list->kind != NODE_LIST)
        return reader_refuse(x->r, list, "a list of answers");
    for (const struct node *at = list->first; at && r == 0; at = at->next)
        r = read_answer(x, at, &items[n++]);
    if (r < 0)
        return r;
    add_error(x, "it said nothing about this VM", items, &n);
    *ret = items;
    *ret_n = n;
    return 0;
}

/* Ids are counted: no double of theirs is rounded. */
static int read_line(const struct reading *x, const struct node *line, struct seen_answer **ret,
                     size_t *ret_n)
{
    const struct node *id = line->kind == NODE_MAP ? node_child(line, "id") : NULL;
    const struct node *answers = id ? node_child(line, "answers") : NULL;
    const struct node *error = id ? node_child(line, "error") : NULL;

    if (!id || id->kind != NODE_NUMBER || id->number < 0)
        return reader_refuse(x->r, line, "an object with the id of the question");
    if (id->number < (double)x->batch->id)
        return -EALREADY;
    if (id->number > (double)x->batch->id)
        return reader_refuse(x->r, id, "the id of the question");
    if (answers)
        return read_list(x, answers, ret, ret_n);
    if (!error || !node_text(error))
        return reader_refuse(x->r, line, "answers, or an error");
    *ret = arena_array(x->r->a, struct seen_answer, 1);
    *ret_n = 0;
    add_error(x, clean(x->r->a, node_text(error)), *ret, ret_n);
    return 0;
}

int answer_read(const char *line, size_t len, const struct snapshot *s, const struct batch *batch,
                struct arena *a, struct seen_answer **ret, size_t *ret_n, struct err *err)
{
    const struct json_source source = {.text = line, .len = len};
    const struct reader r = {.a = a, .err = err};
    const struct reading x = {.r = &r,
                              .s = s,
                              .batch = batch,
                              .answered = arena_array(a, bool, batch->n),
                              .listed = arena_array(a, bool, s->n_hosts)};
    CLEANUP(arena_releasep) struct arena scratch = {0};
    struct node *tree;
    int result = json_tree_read(&source, NULL, &scratch, &tree, err);

    if (result == 0)
        result = read_line(&x, tree, ret, ret_n);
    return result;
}
