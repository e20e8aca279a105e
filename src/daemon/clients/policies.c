/* policies.c: scheduling policies kept in the store, and put in force. */
#include "daemon/clients/policies.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/uuid.h"
#include "dialect/ovirt/stored.h"
#include "store/events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NOTE "store:policies"

/* Each unit of the configuration may be a filter and a weight. */
static json_t *units_of(const struct config *c)
{
    static const char *const types[] = {"filter", "weight"};
    json_t *ret = json_array();

    for (size_t i = 0; i < c->n_units; i++)
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
            char key[REQUEST_NAME_MAX];
            char id[UUID_TEXT];
            const int n = snprintf(key, sizeof key, "unit/%s/%.200s", types[k], c->units[i].name);

            uuid_of(key, (size_t)n, id);
            (void)json_array_append_new(ret, json_pack("{s: s, s: s, s: s, s: b, s: b}", "id", id, "name",
                                                       c->units[i].name, "type", types[k], "internal", false,
                                                       "enabled", true));
        }
    return ret;
}

/* Every VM has a name. */
static struct selector all_vms(struct arena *a)
{
    static const char *const every[] = {"*"};
    struct condition *one = arena_new(a, struct condition);

    one->names = (struct ids){.items = every, .n = 1};
    return (struct selector){.conditions = one, .n = 1};
}

void policies_configure(struct policies *p, const struct config *c)
{
    struct overlay_pipeline own = {.name = "scheduling policy"};
    struct arena fresh = {0};
    struct err err = {0};
    bool agrees;

    json_decref(p->units);
    p->units = units_of(c);
    const int r =
        stored_pipeline(p->document, p->units, c->policy.mem_overcommit, &fresh, &own.is, &agrees, &err);

    p->attached = r > 0;
    if (r < 0)
        log_error("the attached scheduling policy is not in force: %s", err.text);
    if (r > 0 && !agrees)
        log_warning("scheduling policy: no weight agrees with the balance: VMs may be sent back, or nowhere");
    if (r > 0) {
        struct overlay_pipeline *all =
            arena_array(&fresh, struct overlay_pipeline, c->overlay.n_pipelines + 1);

        own.vms = all_vms(&fresh);
        all[0] = own;
        for (size_t i = 0; i < c->overlay.n_pipelines; i++)
            all[i + 1] = c->overlay.pipelines[i];
        p->overlay = c->overlay;
        p->overlay.pipelines = all;
        p->overlay.n_pipelines++;
    }
    arena_release(&p->former);
    p->former = p->memory;
    p->memory = fresh;
}

const struct overlay *policies_overlay(const struct policies *p, const struct config *c)
{
    return p->attached ? &p->overlay : &c->overlay;
}

int policies_open(struct policies *p, struct store *store, const struct config *c, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *text = NULL;
    int r = store_get_note(store, NOTE, &a, &text, err);

    if (r < 0)
        return r;
    *p = (struct policies){.store = store, .document = stored_new(), .units = units_of(c)};
    json_t *kept = text ? json_loads(text, 0, NULL) : NULL;
    struct err why = {0};
    CLEANUP(json_decrefp) json_t *shown = kept ? stored_show(kept, p->units, &why) : NULL;

    if (text && !shown) {
        (void)snprintf(p->broken, sizeof p->broken, "the policies in the store cannot be read: %.400s",
                       kept ? why.text : "no JSON");
        log_error("%s; none is attached", p->broken);
        json_decref(kept);
    } else if (kept) {
        json_decref(p->document);
        p->document = kept;
    }
    policies_configure(p, c);
    return 0;
}

void policies_close(struct policies *p)
{
    json_decref(p->document);
    json_decref(p->units);
    arena_release(&p->memory);
    arena_release(&p->former);
    *p = (struct policies){0};
}

static void name_cluster(const struct config *c, json_t *cluster)
{
    char key[REQUEST_NAME_MAX];
    char id[UUID_TEXT];
    const int n = snprintf(key, sizeof key, "cluster/%.200s", c->cluster);

    uuid_of(key, (size_t)n, id);
    (void)json_object_set_new(cluster, "id", json_string(id));
    (void)json_object_set_new(cluster, "name", json_string(c->cluster));
}

static void put_json(struct strbuf *out, const json_t *v)
{
    CLEANUP(freep) char *text = json_dumps(v, JSON_COMPACT);

    strbuf_puts(out, text ? text : "null");
}

int policies_reply(const struct policies *p, const struct config *c, struct strbuf *out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *shown = stored_show(p->document, p->units, err);

    if (!shown)
        return -EIO;
    CLEANUP(json_decrefp) json_t *clusters = json_deep_copy(json_object_get(shown, "clusters"));

    name_cluster(c, json_array_get(clusters, 0));
    (void)json_object_set(shown, "clusters", clusters);
    strbuf_puts(out, "{\"ok\": true, \"policies\": ");
    put_json(out, shown);
    strbuf_puts(out, "}\n");
    return 0;
}

int policies_change(struct policies *p, const struct config *c, const struct request *q, struct arena *a,
                    const char **told, struct strbuf *out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *is = q->has_text ? json_loadb(q->vms, q->text_len, 0, NULL) : NULL;
    const struct stored_request asked = {.method = q->verb, .path = q->path, .is = is};
    struct stored_answer answer;
    json_t *changed = NULL;

    *told = NULL;
    if (p->broken[0])
        return err_set(err, -EIO, "%s", p->broken);
    int r = stored_change(p->document, p->units, &asked, a, &changed, &answer, err);

    if (r < 0)
        return r;
    CLEANUP(json_decrefp) json_t *kept = changed;
    CLEANUP(json_decrefp) json_t *shown = answer.is;
    CLEANUP(freep) char *text = json_dumps(kept, JSON_COMPACT);

    if (answer.told && (r = store_put_note(p->store, NOTE, text, err)) < 0)
        return r;
    json_decref(p->document);
    p->document = json_incref(kept);
    *told = answer.told;
    policies_configure(p, c);
    if (shown && strcmp(answer.kind, "cluster") == 0)
        name_cluster(c, shown);
    strbuf_printf(out, "{\"ok\": true, \"status\": %d, \"element\": \"%s\", \"is\": ", answer.status,
                  answer.kind ? answer.kind : "");
    put_json(out, shown);
    strbuf_puts(out, "}");
    return 0;
}
