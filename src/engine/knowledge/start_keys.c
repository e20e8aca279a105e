/* start_keys.c: remembers the placement keys of VMs from their start on, one note in the store for each VM.
 */
#include "engine/knowledge/start_keys.h"

#include "base/cleanup.h"
#include "base/texts.h"
#include "base/xalloc.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_PREFIX "start_keys/"
#define KEY "key."
#define COPY "copy."
#define STICKY "sticky."

/* The keys of one VM. */
struct start {
    struct known_entry known;
    bool off;       /* the last inventory showed it off: once it runs, it has started */
    json_t *keys;   /* {NAME: value}, while it runs; NULL: its start was not seen */
    json_t *copies; /* {NAME: [value, weight]} */
    instant_s seen;
};

struct start_keys {
    struct known_map vms; /* id -> struct start */
};

static void start_free(void *value)
{
    struct start *x = value;

    json_decref(x->keys);
    json_decref(x->copies);
    free(x);
}

static void *add(void *piece, const char *vm)
{
    struct start_keys *all = piece;
    void **slot = idmap_slot(&all->vms.of, vm);

    if (!*slot) {
        struct start *fresh = xcalloc(1, sizeof *fresh);
        fresh->copies = json_object();
        *slot = fresh;
    }
    return *slot;
}

static const struct attribute *find_number(const struct attributes *of, const char *prefix, const char *name)
{
    for (uint32_t i = 0; i < of->n; i++) {
        const char *is = texts_after(prefix, of->items[i].name);
        if (is && strcmp(is, name) == 0 && of->items[i].is.type == VALUE_NUMBER)
            return &of->items[i];
    }
    return NULL;
}

/* ---- into an inventory ---- */

struct hints {
    struct attribute *items;
    uint32_t n;
    struct arena *a;
};

static void set_hint(struct hints *h, const char *prefix, const char *name, const json_t *value)
{
    const char *is = arena_printf(h->a, "%s%s", prefix, name);
    uint32_t i = 0;

    while (i < h->n && strcmp(h->items[i].name, is) != 0)
        i++;
    if (i >= ATTRIBUTES_MAX)
        return;
    h->n += i == h->n;
    h->items[i] =
        (struct attribute){.name = is, .is = {.type = VALUE_NUMBER, .number = json_number_value(value)}};
}

static void fill_vm(const struct start *x, struct vm_facts *vm, enum vm_state state, struct arena *a)
{
    const bool fixed = state != VM_OFF && x->keys;
    const size_t most = vm->hints.n + json_object_size(x->keys) + 2 * json_object_size(x->copies);
    struct hints h = {.items = arena_array(a, struct attribute, most), .a = a};
    const char *name;
    json_t *value;

    for (uint32_t i = 0; i < vm->hints.n; i++) {
        if (!fixed || !texts_after(KEY, vm->hints.items[i].name))
            h.items[h.n++] = vm->hints.items[i];
    }
    if (fixed)
        json_object_foreach(x->keys, name, value) set_hint(&h, KEY, name, value);
    json_object_foreach(x->copies, name, value)
    {
        set_hint(&h, COPY, name, json_array_get(value, 0));
        set_hint(&h, STICKY, name, json_array_get(value, 1));
    }
    vm->hints = (struct attributes){.items = h.items, .n = h.n};
}

static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    const struct start_keys *all = piece;

    (void)c;
    for (size_t i = 0; all->vms.of.n > 0 && i < inv->n_vms; i++) {
        struct vm_facts *vm = &inv->vms[i].is;
        const struct start *x = vm->id ? idmap_get(&all->vms.of, vm->id) : NULL;

        if (x && !x->known.gone)
            fill_vm(x, vm, vm->state, a);
    }
}

/* ---- from a snapshot ---- */

static bool has_prefix(const struct attributes *of, const char *prefix)
{
    for (uint32_t i = 0; i < of->n; i++) {
        if (texts_after(prefix, of->items[i].name))
            return true;
    }
    return false;
}

static void take_start(struct start *x, const struct attributes *hints, const struct attributes *host)
{
    json_decref(x->keys);
    x->keys = json_object();
    x->off = x->known.gone = false;
    for (uint32_t i = 0; i < hints->n; i++) {
        const char *name = texts_after(KEY, hints->items[i].name);
        if (name && hints->items[i].is.type == VALUE_NUMBER)
            (void)json_object_set_new(x->keys, name, json_real(hints->items[i].is.number));
    }
    for (uint32_t i = 0; i < host->n; i++) {
        const char *name = texts_after(STICKY, host->items[i].name);
        const struct attribute *key = name ? find_number(host, KEY, name) : NULL;
        if (key && host->items[i].is.type == VALUE_NUMBER)
            (void)json_object_set_new(x->copies, name,
                                      json_pack("[f, f]", key->is.number, host->items[i].is.number));
    }
}

static struct start *take_stop(struct start_keys *all, const char *vm)
{
    struct start *x = add(all, vm);

    if (x->off && !x->known.gone)
        return x;
    json_decref(x->keys);
    x->keys = NULL;
    x->off = true;
    x->known.gone = false;
    knowledge_touch(&all->vms, &x->known);
    return x;
}

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct start_keys *all = piece;
    bool sticky = false;

    (void)c, (void)a;
    for (uint32_t i = 0; i < s->n_hosts && !sticky; i++)
        sticky = has_prefix(&s->hosts[i].is.attributes, STICKY);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *vm = &s->vms[i];
        struct start *x = all->vms.of.n > 0 ? idmap_get(&all->vms.of, vm->is.id) : NULL;

        if (vm->is.state == VM_OFF && (x || sticky || has_prefix(&vm->is.hints, KEY))) {
            x = take_stop(all, vm->is.id);
        } else if (vm->is.state == VM_ON && x && x->off && vm->host != IX_NONE) {
            take_start(x, &vm->is.hints, &s->hosts[vm->host].is.attributes);
            knowledge_touch(&all->vms, &x->known);
        }
        if (x)
            x->seen = s->time;
    }
}

/* ---- the store ---- */

static int entry_persist(const char *vm, const void *entry, const struct store_ops *ops, struct store *s,
                         struct err *err)
{
    const struct start *x = entry;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct note note = {.key = arena_printf(&a, NOTE_PREFIX "%s", vm)};
    const struct record record = {RECORD_NOTE, .note = &note};

    if (x->known.gone)
        return ops->forget(s, &record, err);
    CLEANUP(json_decrefp)
    json_t *json = json_pack("{s: b, s: O?, s: O}", "off", x->off, "keys", x->keys, "copies", x->copies);
    CLEANUP(freep) char *text = json_dumps(json, JSON_COMPACT);

    note.value = text;
    return text ? ops->put(s, &record, err) : err_set(err, -ENOMEM, "out of memory");
}

/* Members that another version wrote in another form are left out. */
static bool is_sound(const json_t *keys, const json_t *copies)
{
    const char *name;
    json_t *value;

    if ((keys && !json_is_object(keys)) || !json_is_object(copies))
        return false;
    json_object_foreach((json_t *)(uintptr_t)keys, name, value)
    {
        if (!json_is_number(value))
            return false;
    }
    json_object_foreach((json_t *)(uintptr_t)copies, name, value)
    {
        if (!json_is_number(json_array_get(value, 0)) || !json_is_number(json_array_get(value, 1)))
            return false;
    }
    return true;
}

static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct start_keys *all = piece;

    for (size_t i = 0; i < s->n_notes; i++) {
        const char *vm = texts_after(NOTE_PREFIX, s->notes[i].key);
        CLEANUP(json_decrefp) json_t *json = vm ? json_loads(s->notes[i].value, 0, NULL) : NULL;
        json_t *keys = json_object_get(json, "keys");
        json_t *copies = json_object_get(json, "copies");

        if (!json || !is_sound(json_is_null(keys) ? NULL : keys, copies))
            continue;
        struct start *x = add(all, vm);

        x->off = json_is_true(json_object_get(json, "off"));
        x->keys = json_is_object(keys) ? json_incref(keys) : NULL;
        json_decref(x->copies);
        x->copies = json_incref(copies);
        x->seen = now;
    }
}

static void forget(void *piece, const struct retention *keep, instant_s now)
{
    struct start_keys *all = piece;

    (void)now;
    for (size_t i = 0; i < all->vms.of.cap; i++) {
        struct start *x = all->vms.of.entries[i].value;

        if (!x || x->known.gone || x->seen >= keep->ended_before)
            continue;
        x->known.gone = true;
        knowledge_touch(&all->vms, &x->known);
    }
}

const struct knowledge_ops start_keys_ops = {
    .size = sizeof(struct start_keys),
    .entry_free = start_free,
    .entry_persist = entry_persist,
    .fill = fill,
    .observe = observe,
    .recall = recall,
    .note_prefix = NOTE_PREFIX,
    .entry_make = add,
    .forget = forget,
};
