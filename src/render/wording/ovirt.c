/* ovirt.c: what oVirt's engine says of a host that a filter refuses. Hints and attributes have the names that
 * src/dialect/ovirt gives them. */
#include "render/wording/wording.h"

#include "base/strbuf.h"
#include "base/texts.h"
#include "model/attributes.h"

#include <math.h>
#include <string.h>

/* What follows "because": %s stands for names, %.0f for what is too little. `about`: a count that must be
 * among what decides; NULL: anything. The engine has no words for other filters. */
static const struct told {
    const char *filter, *about, *words;
} reasons[] = {
    {"CPUOverloaded", NULL, "its CPU is too loaded"},
    {"Memory", NULL, "its available memory is too low (%.0f MB) to run the VM"},
    {"Swap", NULL, "it is swapping too much"},
    {"VmAffinityGroups", "negative members", "it matched negative affinity rules"},
    {"Network", NULL, "network(s) %s are missing"},
    {"PinToHost", NULL, "the host is not present in the pinning list"},
};

static void put_missing(const struct attributes *vm, const struct attributes *host, const char *wanted,
                        const char *there, struct strbuf *out)
{
    const struct value of = attributes_find(vm, wanted);
    const struct value known = attributes_find(host, there);

    for (uint32_t i = 0; of.type == VALUE_TEXTS && i < of.texts.n; i++)
        if (known.type != VALUE_TEXTS || !texts_have(known.texts.items, known.texts.n, of.texts.items[i]))
            strbuf_printf(out, "%s%s", out->len > 0 ? ", " : "", of.texts.items[i]);
}

static bool is_about(const struct snapshot *s, const struct refusal *why, const char *count)
{
    const struct expression *x = &s->stages[why->stage].is.filter;

    for (uint32_t i = 0; i < why->n_values; i++) {
        const char *name = x->nodes[why->values[i].node].name;
        if (name && strcmp(name, count) == 0)
            return true;
    }
    return false;
}

/* NULL: the engine gives no reason. */
static const char *reason_of(const struct snapshot *s, const struct refusal *why, uint32_t vm, uint32_t host,
                             struct arena *a)
{
    const struct attributes *hints = &s->vms[vm].is.hints;
    const struct attributes *there = &s->hosts[host].is.attributes;
    const struct told *r = reasons;
    struct strbuf names;

    while (
        r < reasons + sizeof reasons / sizeof *reasons &&
        (strcmp(r->filter, s->stages[why->stage].is.name) != 0 || (r->about && !is_about(s, why, r->about))))
        r++;
    if (r == reasons + sizeof reasons / sizeof *reasons)
        return NULL;
    if (strstr(r->words, "%.0f"))
        return isnan(why->limit) ? NULL : arena_printf(a, r->words, floor(why->limit));
    if (!strstr(r->words, "%s"))
        return r->words;
    strbuf_init(&names, STRBUF_NO_LIMIT);
    put_missing(hints, there, "networks", "networks", &names);
    put_missing(hints, there, "display", "networks_with_address", &names);
    const char *ret = names.len > 0 ? arena_printf(a, r->words, names.text) : NULL;

    strbuf_release(&names);
    return ret;
}

const char *wording_of_ovirt(const struct snapshot *snap, const struct finding *f, struct arena *a)
{
    const struct refusal *r = f->check == CHECK_FIT_FILTER ? f->refusal : NULL;

    if (!r || !snap->pipelines[snap->stages[r->stage].pipeline].of_ovirt)
        return NULL;
    const struct stage_facts *by = &snap->stages[r->stage].is;
    const uint32_t host = finding_get_subject(f, SUBJECT_HOST);
    const char *why = reason_of(snap, r, finding_get_subject(f, SUBJECT_OTHER_VM), host, a);

    return arena_printf(a, "The host %s did not satisfy %s filter %s%s%s.", snap->hosts[host].is.name,
                        by->external ? "external" : "internal", by->name, why ? " because " : "",
                        why ? why : "");
}
