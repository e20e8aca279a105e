/* vs_tags.c: decides when tags are read, and keeps those that were read last. */
#include "collectors/vsphere/vs_tags.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "collectors/vsphere/vs_rest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVERY_MS (INT64_C(300) * 1000)         /* between two readings of all objects */
#define NAMES_MS (INT64_C(3600) * 1000)        /* names of tags and categories are believed as long as this */
#define RETRY_MS (INT64_C(60) * 1000)          /* after a failure ... */
#define RETRY_REFUSED_MS (INT64_C(900) * 1000) /* ... that time alone does not mend */
#define MOST_MS 15000                          /* for a reading */
#define BATCH 500                              /* objects in a request */

struct vs_tags {
    const struct source_config *cfg;
    struct arena arena;
    struct idmap by_object; /* struct labels, in the arena */
    int64_t read_ms;        /* when all objects were read; 0: never */
    struct arena names_arena;
    struct idmap
        names; /* struct vs_tag of tags and categories by their ids; without a name: it may not be read */
    int64_t names_ms;
    int64_t next_ms; /* no reading before */
    bool said;
    bool none;       /* the peer has no API for tags */
    struct err last; /* of the last failure */
};

struct object {
    const char *type, *id;
};

struct vs_tags *vs_tags_new(const struct source_config *cfg)
{
    struct vs_tags *t = xcalloc(1, sizeof *t);

    t->cfg = cfg;
    return t;
}

static void forget_names(struct vs_tags *t)
{
    idmap_release(&t->names, NULL);
    arena_release(&t->names_arena);
    t->names = (struct idmap){0};
    t->names_arena = (struct arena){0};
}

void vs_tags_free(struct vs_tags *t)
{
    if (!t)
        return;
    idmap_release(&t->by_object, NULL);
    arena_release(&t->arena);
    forget_names(t);
    free(t);
}

/* The tag or category, asked for once. One that was deleted meanwhile, or may not be read, has no name. */
static int find_name(struct vs_tags *t, struct vs_rest *rest, const char *object, const char *id,
                     const struct vs_tag **ret, struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = NULL;
    struct vs_tag *tag = idmap_get(&t->names, id);

    *ret = tag;
    if (tag)
        return 0;
    int r = vs_rest_get(rest, object, id, &answer, err);
    *ret = tag = arena_new(&t->names_arena, struct vs_tag);
    if (r == 0)
        r = strcmp(object, "tag") == 0 ? vs_tags_read_tag(answer, &t->names_arena, tag, err)
                                       : vs_tags_read_category(answer, &t->names_arena, tag, err);
    else if (r == -ENOENT || r == -EPERM)
        r = 0;
    if (r == 0)
        *idmap_slot(&t->names, id) = tag;
    return r;
}

/* The labels of an object with these tags. */
static int name_tags(struct vs_tags *t, struct vs_rest *rest, const struct ids *ids, struct arena *to,
                     struct labels *ret, struct err *err)
{
    CLEANUP(arena_releasep) struct arena work = {0};
    struct vs_tag *tags = arena_array(&work, struct vs_tag, ids->n);
    size_t n = 0;

    for (uint32_t i = 0; i < ids->n; i++) {
        const struct vs_tag *tag;
        const struct vs_tag *category = NULL;
        int r = find_name(t, rest, "tag", ids->items[i], &tag, err);

        if (r == 0 && tag->name)
            r = find_name(t, rest, "category", tag->category, &category, err);
        if (r < 0)
            return r;
        if (category && category->name)
            tags[n++] = (struct vs_tag){.name = tag->name, .category = category->name};
    }
    *ret = vs_tags_labels(tags, n, to);
    return 0;
}

static int ask_attached(struct vs_rest *rest, const struct object *objects, size_t n, struct arena *a,
                        struct idmap *ret, struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = json_pack("{s:[]}", "object_ids");
    CLEANUP(json_decrefp) json_t *answer = NULL;
    json_t *list = json_object_get(body, "object_ids");

    for (size_t i = 0; i < n; i++) {
        if (json_array_append_new(list,
                                  json_pack("{s:s,s:s}", "id", objects[i].id, "type", objects[i].type)) < 0)
            return err_set(err, -EINVAL, "the id of a %s is no text", objects[i].type);
    }
    int r = vs_rest_post(rest, "tag-association", "list-attached-tags-on-objects", body, &answer, err);

    return r < 0 ? r : vs_tags_read_attached(answer, a, ret, err);
}

/* Reads the tags of the objects into the map; the labels are the arena's. */
static int read_batch(struct vs_tags *t, struct vs_rest *rest, const struct object *objects, size_t n,
                      struct arena *to, struct idmap *ret, struct err *err)
{
    CLEANUP(arena_releasep) struct arena work = {0};
    CLEANUP(idmap_releasep) struct idmap attached = {0};
    int r = ask_attached(rest, objects, n, &work, &attached, err);

    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct ids *ids = idmap_get(&attached, objects[i].id);
        struct labels *labels = arena_new(to, struct labels);

        if (ids)
            r = name_tags(t, rest, ids, to, labels, err);
        if (r == 0)
            *idmap_slot(ret, objects[i].id) = labels;
    }
    return r;
}

static int read_objects(struct vs_tags *t, struct vsphere *v, const struct object *objects, size_t n,
                        struct arena *to, struct idmap *ret, struct err *err)
{
    int64_t most_ms = (int64_t)t->cfg->timeout_s * 1000 / 4;
    struct vs_rest *rest = NULL;
    int64_t now = net_now_ms();

    if (most_ms <= 0 || most_ms > MOST_MS)
        most_ms = MOST_MS;
    if (now - t->names_ms >= NAMES_MS) {
        forget_names(t);
        t->names_ms = now;
    }
    int r = vs_rest_new(t->cfg, v, now + most_ms, &rest, err);
    for (size_t i = 0; r == 0 && i < n; i += BATCH)
        r = read_batch(t, rest, objects + i, n - i < BATCH ? n - i : BATCH, to, ret, err);
    vs_rest_free(rest);
    return r;
}

static void note_failure(struct vs_tags *t, int r, const struct err *err)
{
    t->next_ms = net_now_ms() + (r == -EACCES || r == -ENOTSUP ? RETRY_REFUSED_MS : RETRY_MS);
    t->none = r == -ENOTSUP;
    t->last = *err;
    if (r == -ECANCELED || t->said)
        return;
    log_warning("%s: tags of vSphere cannot be read, so %s: %s", t->cfg->url,
                t->read_ms > 0 ? "those read last are used" : "they are no labels", err->text);
    t->said = true;
}

static void note_success(struct vs_tags *t)
{
    t->next_ms = 0;
    t->none = false;
    if (t->said)
        log_notice("%s: tags of vSphere are read again", t->cfg->url);
    t->said = false;
}

/* All objects, in place of what is known. A failure keeps what is known. */
static int read_all(struct vs_tags *t, struct vsphere *v, const struct object *objects, size_t n,
                    struct err *err)
{
    CLEANUP(arena_releasep) struct arena arena = {0};
    struct idmap by_object = {0};
    int r = read_objects(t, v, objects, n, &arena, &by_object, err);

    if (r == 0) {
        struct arena old_arena = t->arena;
        struct idmap old = t->by_object;

        t->arena = arena;
        t->by_object = by_object;
        t->read_ms = net_now_ms();
        arena = old_arena;
        by_object = old;
    }
    idmap_release(&by_object, NULL);
    return r;
}

static size_t list_objects(const struct vs_tags *t, const struct vs_inventory *s, bool all,
                           struct object *objects)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_hosts; i++) {
        if (all || !idmap_get(&t->by_object, s->hosts[i].id))
            objects[n++] = (struct object){"HostSystem", s->hosts[i].id};
    }
    for (size_t i = 0; i < s->n_vms; i++) {
        if (!s->vms[i].template_ && (all || !idmap_get(&t->by_object, s->vms[i].id)))
            objects[n++] = (struct object){"VirtualMachine", s->vms[i].id};
    }
    return n;
}

static struct labels tags_of(const struct vs_tags *t, const char *id)
{
    const struct labels *known = idmap_get(&t->by_object, id);

    return known ? *known : (struct labels){0};
}

/* Why the tags of these objects are not known; NULL: they are. One that is new may be the one that a rule is
 * about, so it counts as much as all of them. */
static const char *why_unread(const struct vs_tags *t, const struct vs_inventory *s, struct object *objects)
{
    if (!t->next_ms || t->none || list_objects(t, s, false, objects) == 0)
        return NULL;
    return arena_strdup(s->arena, t->last.text);
}

void vs_tags_collect(struct vs_tags *t, struct vsphere *v, struct vs_inventory *s)
{
    CLEANUP(arena_releasep) struct arena work = {0};
    struct object *objects = arena_array(&work, struct object, s->n_hosts + s->n_vms);
    struct err err = {0};
    int64_t now = net_now_ms();
    bool all = t->read_ms == 0 || now - t->read_ms >= EVERY_MS;
    size_t n = list_objects(t, s, all, objects);

    if (n > 0 && now >= t->next_ms && vsphere_content(v)->is_vcenter) {
        int r = all ? read_all(t, v, objects, n, &err)
                    : read_objects(t, v, objects, n, &t->arena, &t->by_object, &err);
        if (r < 0)
            note_failure(t, r, &err);
        else
            note_success(t);
    }
    s->tags_unread = why_unread(t, s, objects);
    for (size_t i = 0; i < s->n_hosts; i++)
        s->hosts[i].tags = tags_of(t, s->hosts[i].id);
    for (size_t i = 0; i < s->n_vms; i++)
        s->vms[i].tags = tags_of(t, s->vms[i].id);
}

const struct err *vs_tags_error(const struct vs_tags *t)
{
    return t->next_ms > 0 ? &t->last : NULL;
}

size_t vs_tags_objects(const struct vs_tags *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->by_object.cap; i++) {
        const struct labels *labels = t->by_object.entries[i].key ? t->by_object.entries[i].value : NULL;

        n += labels && labels->n > 0;
    }
    return n;
}
