/* place_ovirt.c: why hosts refuse VMs of a cloud of oVirt, host by host, when the VMs before them have
 * theirs. */
#include "cli/place_ovirt.h"

#include "base/cleanup.h"
#include "core/pass.h"
#include "core/place/starting.h"
#include "core/plan/findings.h"
#include "render/render.h"
#include "render/wording/wording.h"

#include <jansson.h>
#include <string.h>

static json_t *refused_by(const struct pass *p, uint32_t vm, uint32_t host, struct arena *a)
{
    const struct snapshot *s = p->snap;
    const struct finding *f = check_finding(p, vm, host, CHECK_FIT_FILTER, NULL);

    if (!f->refusal || s->hosts[host].is.state != HOST_ON)
        return NULL;
    return json_pack("{s: s, s: s, s: s, s: s, s: s}", "vm", s->vms[vm].is.id, "host", s->hosts[host].is.id,
                     "stage", s->stages[f->refusal->stage].is.name, "words", wording_of_ovirt(s, f, a),
                     "text", wording_text(s, f, a));
}

static void add_refused(const struct pass *p, uint32_t vm, struct arena *a, json_t *list, struct strbuf *text)
{
    size_t before = json_array_size(list);
    uint32_t on = 0;

    for (uint32_t h = 0; h < p->snap->n_hosts; h++) {
        json_t *one = refused_by(p, vm, h, a);

        on += p->snap->hosts[h].is.state == HOST_ON;
        if (one)
            (void)json_array_append_new(list, one);
    }
    if (on == 0)
        strbuf_puts(text,
                    "\nThere are no hosts to use. Check that the cluster contains at least one host in Up "
                    "state.\n");
    else
        strbuf_puts(text,
                    "\nCannot run VM. There is no host that satisfies current scheduling constraints. See "
                    "below for details:\n");
    for (size_t i = before; i < json_array_size(list); i++)
        strbuf_printf(text, "%s\n", json_string_value(json_object_get(json_array_get(list, i), "words")));
}

/* The cluster when all that the plan powers on runs. */
static const struct snapshot *with_placed(const struct plan *plan, const struct snapshot *cluster,
                                          const struct vms_to_place *vms, struct arena *a)
{
    struct snapshot *s = arena_new(a, struct snapshot);

    *s = *cluster;
    s->pending = arena_array(a, struct pending, plan->n_recommendations);
    s->n_pending = 0;
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *r = &plan->recommendations[i];
        if (r->action == ACTION_PLACE)
            s->pending[s->n_pending++] = (struct pending){.action = r->action, .vm = r->vm, .to = r->to};
    }
    const struct snapshot *started = starting_counted(s, a);
    struct snapshot *ret = arena_new(a, struct snapshot);

    *ret = *started;
    ret->n_pending = 0;
    ret->vms = arena_copy(a, started->vms, started->n_vms, sizeof *started->vms);
    for (uint32_t i = 0; i < vms->n; i++)
        if (ret->vms[vms->vms[i]].is.state != VM_ON)
            starting_assume_all(&ret->vms[vms->vms[i]], 0);
    return ret;
}

void place_ovirt_refused(const struct plan *plan, const struct vms_to_place *vms, bool json, struct arena *a,
                         struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *list = json_array();
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct pass *p = arena_new(a, struct pass);

    pass_prepare(p, with_placed(plan, &vms->snap, vms, a), vms->snap.policy, 0, IX_NONE, a);
    for (uint32_t i = 0; i < vms->n; i++)
        if (render_unplaced_count(plan, &vms->vms[i], 1) > 0)
            add_refused(p, vms->vms[i], a, list, &text);
    if (!json) {
        strbuf_puts(out, text.text);
        return;
    }
    CLEANUP(freep) char *dumped = json_dumps(list, 0);

    out->len -= strlen("\n}\n"); /* the object stays open for one more member */
    out->text[out->len] = '\0';
    strbuf_printf(out, ",\n  \"refused\": %s\n}\n", dumped ? dumped : "[]");
}
