/* prefilters.c: what Nova asks of the placement service before its own filters run: traits, aggregates and a
 * named host. Each has the name of the function in Nova's module request_filter, or of a part of requests. */
#include "dialect/nova/internal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define DISABLED "COMPUTE_STATUS_DISABLED"
#define TENANT_KEYS "filter_tenant_id" /* and whatever follows */
#define TRAIT "trait:"
#define TRAITS "$host.traits"
#define REQUESTED_CELL "$vm.hints.requested_cell"
#define FROM_TYPE "$vm.hints.from_hypervisor_type"
#define FROM_VERSION "$vm.hints.from_hypervisor_version"

static int is_on(const struct cloud *c, const char *option, bool fallback, bool *ret)
{
    return conf_bool(c, "scheduler", option, fallback, ret);
}

static const char *upper(const char *text, struct arena *a)
{
    char *ret = arena_strdup(a, text);

    for (char *at = ret; *at; at++)
        *at = (char)(*at == '-' ? '_' : toupper((unsigned char)*at));
    return ret;
}

/* ---- cells and hosts ---- */

static void set_cells(struct cloud *c)
{
    size_t i;
    const json_t *state;

    if (!cloud_first(c, "cells"))
        return;
    json_array_foreach(c->states, i, state)
    {
        if (json_is_string(json_object_get(state, "cell_uuid")))
            host_set(c, i, "cell", json_copy(json_object_get(state, "cell_uuid")));
    }
}

/* A server that moves stays in its cell, unless it may leave it. */
static int requested_cell(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words cell = {0};

    if (r->cell)
        nova_words_add(&cell, r->cell, c->a);
    *ret =
        vm_texts_have(c, r, "requested_cell", json_string(ATTRIBUTE "cell"), r->cell ? &cell : NULL, false);
    if (*ret)
        set_cells(c);
    return 0;
}

/* Hosts of a disabled cell take no VMs. */
static int disabled_cells(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words disabled = {0};
    size_t i;
    const json_t *cell;

    (void)r;
    json_array_foreach(json_object_get(c->lists, "cells"), i, cell)
    {
        const char *uuid = cloud_text(cell, "uuid");
        const json_t *is = json_object_get(cell, "disabled");
        if (uuid &&
            (json_is_true(is) || (json_is_string(is) && strcasecmp(json_string_value(is), "true") == 0)))
            nova_words_add(&disabled, uuid, c->a);
    }
    if (disabled.n == 0)
        return 0;
    set_cells(c);
    *ret = json_pack("[s, o]", "not", nova_expression_in(json_string(ATTRIBUTE "cell"), &disabled, c->a));
    if (vm_given(c, REQUESTED_CELL)) /* one that stays in its cell is not asked */
        *ret = json_pack("[s, [s, s], o]", "or", "given", REQUESTED_CELL, *ret);
    return 0;
}

static int requested_destination(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words host = {0};
    struct words node = {0};

    if (r->host)
        nova_words_add(&host, r->host, c->a);
    if (r->node)
        nova_words_add(&node, r->node, c->a);
    json_t *hosts = vm_texts_have(c, r, "requested_host", json_string(HOST), r->host ? &host : NULL, false);
    json_t *nodes =
        vm_texts_have(c, r, "requested_node", json_string("$host.id"), r->node ? &node : NULL, false);

    *ret = hosts && nodes ? json_pack("[s, o, o]", "and", hosts, nodes) : hosts ? hosts : nodes;
    return 0;
}

/* ignore_hosts of the request. */
static int ignored_hosts(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words left = {0};

    if (r->left)
        nova_words_add(&left, r->left, c->a);
    *ret = vm_texts_have(c, r, "ignored_hosts", json_string(HOST), r->left ? &left : NULL, true);
    return 0;
}

/* A live migration is to a hypervisor of the same type, and not to an older one: conductor asks that, after
 * the filters and host by host. */
static int live_migration(struct cloud *c, const struct request *r, json_t **ret)
{
    const json_t *type = json_object_get(r->live_from, "hypervisor_type");
    const json_t *version = json_object_get(r->live_from, "hypervisor_version");
    bool skips;
    size_t i;
    const json_t *state;
    int e = conf_bool(c, "workarounds", "skip_hypervisor_version_check_on_lm", false, &skips);

    if (json_is_string(type))
        (void)vm_set(c, r, "hints", "from_hypervisor_type", json_copy((json_t *)type));
    if (json_is_integer(version) && !skips)
        (void)vm_set(c, r, "hints", "from_hypervisor_version", json_copy((json_t *)version));
    if (e < 0 || (!vm_given(c, FROM_TYPE) && !vm_given(c, FROM_VERSION)))
        return e;
    const json_t *hosts = cloud_first(c, "live_hypervisors") ? c->states : NULL;

    json_array_foreach(hosts, i, state)
    {
        type = json_object_get(state, "hypervisor_type");
        version = json_object_get(state, "hypervisor_version");
        if (json_is_string(type))
            host_set(c, i, "live_hypervisor_type", json_copy((json_t *)type));
        if (json_is_integer(version))
            host_set(c, i, "live_hypervisor_version", json_copy((json_t *)version));
    }
    *ret = json_pack(
        "[s, o, o]", "and",
        vm_unless_given(FROM_TYPE, json_pack("[s, s, s]", "=", ATTRIBUTE "live_hypervisor_type", FROM_TYPE)),
        vm_unless_given(FROM_VERSION,
                        json_pack("[s, s, s]", ">=", ATTRIBUTE "live_hypervisor_version", FROM_VERSION)));
    return 0;
}

/* ---- aggregates ---- */

/* Whether the host is in one of these aggregates; NULL: this VM asks for none. */
static json_t *in_aggregates(struct cloud *c, const struct request *r, const char *name,
                             const struct words *ids, bool negated)
{
    json_t *in = vm_texts_have(c, r, name, json_string("$group.id"), ids, false);

    if (!in)
        return NULL;
    if (json_array_size(in) != 3 || json_array_size(json_array_get(in, 2)) == 0) { /* constants */
        json_t *any = json_pack("[s, s, o]", "any_group", AGGREGATE, in);
        return negated ? json_pack("[s, o]", "not", any) : any;
    }
    json_t *any = json_pack("[s, s, O]", "any_group", AGGREGATE, json_array_get(in, 2));

    json_decref(in);
    return vm_unless_given(arena_printf(c->a, "$vm.hints.%s", name),
                           negated ? json_pack("[s, o]", "not", any) : any);
}

static const char *id_of(const struct cloud *c, const json_t *aggregate)
{
    return nova_python_str(json_object_get(aggregate, "id"), c->a);
}

/* Any value of the aggregate is the project, and any of its keys begins as that of tenants: Nova does not ask
 * for both of one entry. */
static bool is_for_tenant(const struct cloud *c, const json_t *aggregate, const char *project)
{
    bool has_value = false;
    bool has_key = false;
    const char *key;
    json_t *value;

    json_object_foreach(json_object_get(aggregate, "metadata"), key, value)
    {
        const char *text = nova_python_str(value, c->a);
        has_value = has_value || (text && strcmp(text, project) == 0);
        has_key = has_key || strncmp(key, TENANT_KEYS, strlen(TENANT_KEYS)) == 0;
    }
    const char *zone = cloud_text(aggregate, "availability_zone"); /* is metadata, too */

    return has_key && (has_value || (zone && strcmp(zone, project) == 0));
}

static int require_tenant_aggregate(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words ids = {0};
    bool limits;
    bool required;
    size_t i;
    const json_t *aggregate;
    int e = is_on(c, "limit_tenants_to_placement_aggregate", false, &limits);

    if (e < 0 || (e = is_on(c, "placement_aggregate_required_for_tenants", false, &required)) < 0 || !limits)
        return e;
    if ((e = server_need_project(c, r, "limit_tenants_to_placement_aggregate")) < 0)
        return e;
    json_array_foreach(json_object_get(c->lists, "aggregates"), i, aggregate)
    {
        if (r->project && is_for_tenant(c, aggregate, r->project))
            nova_words_add(&ids, id_of(c, aggregate), c->a);
    }
    *ret = in_aggregates(c, r, "tenant_aggregates", ids.n > 0 || required ? &ids : NULL, false);
    return 0;
}

static int map_az(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words ids = {0};
    bool on;
    size_t i;
    const json_t *aggregate;
    int e = is_on(c, "query_placement_for_availability_zone", true, &on);

    if (e < 0 || !on)
        return e;
    json_array_foreach(json_object_get(c->lists, "aggregates"), i, aggregate)
    {
        const char *zone = cloud_text(json_object_get(aggregate, "metadata"), "availability_zone");
        zone = zone ? zone : cloud_text(aggregate, "availability_zone");
        if (r->zone && zone && strcmp(zone, r->zone) == 0)
            nova_words_add(&ids, id_of(c, aggregate), c->a);
    }
    *ret = in_aggregates(c, r, "zone_aggregates", ids.n > 0 ? &ids : NULL, false);
    return 0;
}

/* ---- traits ---- */

/* The traits that flavour and image require, or forbid, as "trait:X" in any group of the request. */
static struct words asked_traits(const struct cloud *c, const struct request *r, const char *how)
{
    struct words ret = {0};
    const char *key;
    json_t *value;
    size_t i;

    json_object_foreach((json_t *)r->extra_specs, key, value)
    {
        const char *colon = strchr(key, ':');
        const char *is = json_string_value(value);
        if (!r->rebuilds && colon && strncmp(key, TRAIT, strlen(TRAIT) - 1) == 0 && is &&
            strcmp(is, how) == 0 && !nova_words_have(&ret, colon + 1))
            nova_words_add(&ret, colon + 1, c->a);
    }
    const json_t *of = json_object_get(r->image_json, "properties");

    json_object_foreach(json_is_object(of) ? (json_t *)of : (json_t *)r->image_json, key, value)
    {
        const char *is = json_string_value(value);
        if (strncmp(key, TRAIT, strlen(TRAIT)) == 0 && is && strcmp(is, "required") == 0 &&
            strcmp(how, "required") == 0 && !nova_words_have(&ret, key + strlen(TRAIT)))
            nova_words_add(&ret, key + strlen(TRAIT), c->a);
    }
    const json_t *listed = json_object_get(json_is_object(of) ? of : r->image_json, "traits_required");

    json_array_foreach(listed, i, value)
    {
        if (json_is_string(value) && strcmp(how, "required") == 0)
            nova_words_add(&ret, json_string_value(value), c->a);
    }
    const char *threads = json_string_value(json_object_get(r->extra_specs, "hw:cpu_thread_policy"));

    if (!threads)
        threads = json_string_value(json_object_get(r->image, "hw_cpu_thread_policy"));
    if (threads && !r->rebuilds && strcmp(threads, strcmp(how, "required") == 0 ? "require" : "isolate") == 0)
        nova_words_add(&ret, "HW_CPU_HYPERTHREADING", c->a);
    return ret;
}

static int isolate_aggregates(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words required = asked_traits(c, r, "required");
    struct words ids = {0};
    bool on;
    size_t i;
    const json_t *aggregate;
    int e = is_on(c, "enable_isolated_aggregate_filtering", false, &on);

    if (e < 0 || !on)
        return e;
    json_array_foreach(json_object_get(c->lists, "aggregates"), i, aggregate)
    {
        const char *key;
        json_t *value;
        bool isolated = false;

        json_object_foreach(json_object_get(aggregate, "metadata"), key, value)
        {
            const char *is = json_string_value(value);
            isolated =
                isolated || (is && strcmp(is, "required") == 0 && strncmp(key, TRAIT, strlen(TRAIT)) == 0 &&
                             !nova_words_have(&required, key + strlen(TRAIT)));
        }
        if (isolated)
            nova_words_add(&ids, id_of(c, aggregate), c->a);
    }
    *ret = in_aggregates(c, r, "isolated_aggregates", ids.n > 0 ? &ids : NULL, true);
    return 0;
}

/* The host has all of the traits, which become the hint `name`. */
static json_t *has_traits(struct cloud *c, const struct request *r, const char *name,
                          const struct words *traits)
{
    const char *variable = arena_printf(c->a, "$vm.hints.%s", name);
    json_t *list = json_array();

    for (size_t i = 0; i < traits->n; i++)
        (void)json_array_append_new(list, json_string(traits->items[i]));
    if (traits->n > 0)
        (void)vm_set(c, r, "hints", name, json_incref(list));
    json_decref(list);
    return vm_given(c, variable)
               ? vm_unless_given(variable, json_pack("[s, s, s]", "has_all", TRAITS, variable))
               : NULL;
}

static int image_type(struct cloud *c, const struct request *r, json_t **ret)
{
    static const char *const known[] = {"AKI", "AMI", "ARI", "ISO",  "PLOOP", "QCOW2",
                                        "RAW", "VDI", "VHD", "VHDX", "VMDK"};
    const char *format = cloud_text(r->image_json, "disk_format");
    const char *wanted = format ? upper(format, c->a) : "";
    struct words traits = {0};
    bool on;
    int e = is_on(c, "query_placement_for_image_type_support", false, &on);

    if (e < 0 || !on)
        return e;
    for (size_t i = 0; !r->of_volume && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], wanted) == 0)
            nova_words_add(&traits, arena_printf(c->a, "COMPUTE_IMAGE_TYPE_%s", wanted), c->a);
    *ret = has_traits(c, r, "image_type_trait", &traits);
    return 0;
}

static int compute_status(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)c;
    (void)r;
    *ret = json_pack("[s, [s, s, s]]", "not", "in", TRAITS, DISABLED);
    return 0;
}

/* The properties of images for which there are traits, and how these begin. */
static const struct image_trait {
    const char *property, *prefix, *words;
} image_traits[] = {
    {"hw_cdrom_bus", "COMPUTE_STORAGE_BUS", " FDC IDE LXC SATA SCSI USB VIRTIO UML XEN "},
    {"hw_disk_bus", "COMPUTE_STORAGE_BUS", " FDC IDE LXC SATA SCSI USB VIRTIO UML XEN "},
    {"hw_video_model", "COMPUTE_GRAPHICS_MODEL", " BOCHS CIRRUS GOP NONE QXL VGA VIRTIO VMVGA XEN "},
    {"hw_vif_model", "COMPUTE_NET_VIF_MODEL",
     " E1000 E1000E LAN9118 NETFRONT NE2K_PCI PCNET RTL8139 SPAPR_VLAN SRIOV VIRTIO VMXNET VMXNET3 "},
    {"hw_architecture", "HW_ARCH",
     " ALPHA ARMV6 ARMV7 ARMV7B AARCH64 CRIS I686 IA64 LM32 M68K MICROBLAZE MICROBLAZEEL MIPS MIPSEL MIPS64 "
     "MIPS64EL OPENRISC PARISC PARISC64 PPC PPCLE PPC64 PPC64LE PPCEMB S390 S390X SH4 SH4EB SPARC SPARC64 "
     "UNICORE32 X86_64 XTENSA XTENSAEB "},
    {"hw_emulation_architecture", "COMPUTE_ARCH", " AARCH64 PPC64LE MIPSEL S390X RISCV64 X86_64 "},
    {"hw_viommu_model", "COMPUTE_VIOMMU", " MODEL_INTEL MODEL_SMMUV3 MODEL_VIRTIO MODEL_AUTO "},
};

/* A value without a trait: Nova asks for none at all. */
static int image_metadata(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words traits = {0};
    bool on;
    bool known = true;
    int e = is_on(c, "image_metadata_prefilter", false, &on);

    if (e < 0 || !on)
        return e;
    for (size_t i = 0; i < sizeof image_traits / sizeof *image_traits; i++) {
        const char *text = json_string_value(json_object_get(r->image, image_traits[i].property));
        const char *word = text ? upper(text, c->a) : NULL;

        if (!word)
            continue;
        known = known && strstr(image_traits[i].words, arena_printf(c->a, " %s ", word));
        nova_words_add(&traits, arena_printf(c->a, "%s_%s", image_traits[i].prefix, word), c->a);
    }
    *ret = has_traits(c, r, "image_traits", known ? &traits : &(struct words){0});
    return 0;
}

static int accelerators(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words traits = {0};

    if (json_string_length(json_object_get(r->extra_specs, "accel:device_profile")) > 0)
        nova_words_add(&traits, "COMPUTE_ACCELERATORS", c->a);
    *ret = has_traits(c, r, "accelerator_trait", &traits);
    return 0;
}

static int required_traits(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words traits = asked_traits(c, r, "required");

    *ret = has_traits(c, r, "required_traits", &traits);
    return 0;
}

static int forbidden_traits(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words traits = asked_traits(c, r, "forbidden");

    *ret = vm_texts_have(c, r, "forbidden_traits", json_string(TRAITS), traits.n > 0 ? &traits : NULL, true);
    return 0;
}

const struct filter prefilters[] = {
    {.name = "requested_cell", .compile = requested_cell},
    {.name = "disabled_cells", .compile = disabled_cells},
    {.name = "requested_destination", .compile = requested_destination, .always = true},
    {.name = "ignored_hosts", .compile = ignored_hosts},
    {.name = "live_migration", .compile = live_migration, .always = true},
    {.name = "require_tenant_aggregate", .compile = require_tenant_aggregate},
    {.name = "map_az_to_placement_aggregate", .compile = map_az},
    {.name = "require_image_type_support", .compile = image_type},
    {.name = "compute_status_filter", .compile = compute_status},
    {.name = "isolate_aggregates", .compile = isolate_aggregates},
    {.name = "transform_image_metadata", .compile = image_metadata},
    {.name = "accelerators_filter", .compile = accelerators},
    {.name = "required_traits", .compile = required_traits, .on_rebuild = true},
    {.name = "forbidden_traits", .compile = forbidden_traits},
};
const size_t n_prefilters = sizeof prefilters / sizeof *prefilters;

/* ---- hosts ---- */

/* The compute service owns COMPUTE_STATUS_DISABLED and sets it by its own status, but while it is down it
 * changes nothing. */
json_t *prefilter_traits(const struct cloud *c, size_t host)
{
    const json_t *hypervisor = json_array_get(json_object_get(c->lists, "hypervisors"), host);
    const json_t *listed = json_object_get(hypervisor, "traits");
    const char *status = cloud_text(hypervisor, "status");
    const char *state = cloud_text(hypervisor, "state");
    bool by_status = !json_is_array(listed) || !state || strcmp(state, "down") != 0;
    json_t *ret = json_array();
    struct words seen = {0};
    size_t i;
    const json_t *trait;

    json_array_foreach(listed, i, trait)
    {
        const char *text = json_string_value(trait);
        if (!text || nova_words_have(&seen, text) || (by_status && strcmp(text, DISABLED) == 0))
            continue;
        nova_words_add(&seen, text, c->a);
        (void)json_array_append_new(ret, json_string(text));
    }
    if (by_status && status && strcmp(status, "disabled") == 0)
        (void)json_array_append_new(ret, json_string(DISABLED));
    return ret;
}
