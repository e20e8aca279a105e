/* image.c: an image's properties as Nova types and names them, and the filters of images. */
#include "dialect/nova/internal.h"

#include "model/expression.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

enum kind { TEXT, WHOLE, TRUTH, ARCHITECTURE, HYPERVISOR, VM_MODE };

/* The fields of ImageMetaProps that are single values. */
static const struct {
    const char *name;
    enum kind kind;
} properties[] = {
    {"hw_architecture", ARCHITECTURE},
    {"hw_emulation_architecture", ARCHITECTURE},
    {"hw_auto_disk_config", TEXT},
    {"hw_boot_menu", TRUTH},
    {"hw_cdrom_bus", TEXT},
    {"hw_cpu_cores", WHOLE},
    {"hw_cpu_sockets", WHOLE},
    {"hw_cpu_max_cores", WHOLE},
    {"hw_cpu_max_sockets", WHOLE},
    {"hw_cpu_max_threads", WHOLE},
    {"hw_cpu_policy", TEXT},
    {"hw_cpu_thread_policy", TEXT},
    {"hw_cpu_realtime_mask", TEXT},
    {"hw_cpu_threads", WHOLE},
    {"hw_device_id", WHOLE},
    {"hw_disk_bus", TEXT},
    {"hw_disk_type", TEXT},
    {"hw_floppy_bus", TEXT},
    {"hw_firmware_type", TEXT},
    {"hw_input_bus", TEXT},
    {"hw_ipxe_boot", TRUTH},
    {"hw_locked_memory", TRUTH},
    {"hw_machine_type", TEXT},
    {"hw_mem_encryption", TRUTH},
    {"hw_mem_page_size", TEXT},
    {"hw_numa_nodes", WHOLE},
    {"hw_pci_numa_affinity_policy", TEXT},
    {"hw_pointer_model", TEXT},
    {"hw_pmu", TRUTH},
    {"hw_qemu_guest_agent", TRUTH},
    {"hw_rescue_bus", TEXT},
    {"hw_rescue_device", TEXT},
    {"hw_rng_model", TEXT},
    {"hw_time_hpet", TRUTH},
    {"hw_serial_port_count", WHOLE},
    {"hw_scsi_model", TEXT},
    {"hw_video_model", TEXT},
    {"hw_video_ram", WHOLE},
    {"hw_vif_model", TEXT},
    {"hw_viommu_model", TEXT},
    {"hw_vm_mode", VM_MODE},
    {"hw_watchdog_action", TEXT},
    {"hw_vif_multiqueue_enabled", TRUTH},
    {"hw_tpm_model", TEXT},
    {"hw_tpm_version", TEXT},
    {"hw_ephemeral_encryption", TRUTH},
    {"hw_ephemeral_encryption_format", TEXT},
    {"img_bittorrent", TRUTH},
    {"img_bdm_v2", TRUTH},
    {"img_cache_in_nova", TRUTH},
    {"img_compression_level", WHOLE},
    {"img_hv_requested_version", TEXT},
    {"img_hv_type", HYPERVISOR},
    {"img_config_drive", TEXT},
    {"img_linked_clone", TRUTH},
    {"img_owner_id", TEXT},
    {"img_root_device_name", TEXT},
    {"img_use_agent", TRUTH},
    {"img_version", WHOLE},
    {"img_signature", TEXT},
    {"img_signature_hash_method", TEXT},
    {"img_signature_certificate_uuid", TEXT},
    {"img_signature_key_type", TEXT},
    {"img_hide_hypervisor_id", TRUTH},
    {"os_admin_user", TEXT},
    {"os_command_line", TEXT},
    {"os_distro", TEXT},
    {"os_require_quiesce", TRUTH},
    {"os_secure_boot", TEXT},
    {"os_skip_agent_inject_files_at_boot", TRUTH},
    {"os_skip_agent_inject_ssh", TRUTH},
    {"os_type", TEXT},
};

/* Former names; a present one wins. */
static const struct {
    const char *former, *name;
} former_names[] = {
    {"architecture", "hw_architecture"},
    {"owner_id", "img_owner_id"},
    {"vmware_disktype", "hw_disk_type"},
    {"vmware_image_version", "img_version"},
    {"vmware_ostype", "os_distro"},
    {"auto_disk_config", "hw_auto_disk_config"},
    {"ipxe_boot", "hw_ipxe_boot"},
    {"xenapi_device_id", "hw_device_id"},
    {"xenapi_image_compression_level", "img_compression_level"},
    {"vmware_linked_clone", "img_linked_clone"},
    {"xenapi_use_agent", "img_use_agent"},
    {"xenapi_skip_agent_inject_ssh", "os_skip_agent_inject_ssh"},
    {"xenapi_skip_agent_inject_files_at_boot", "os_skip_agent_inject_files_at_boot"},
    {"cache_in_nova", "img_cache_in_nova"},
    {"vm_mode", "hw_vm_mode"},
    {"bittorrent", "img_bittorrent"},
    {"bdm_v2", "img_bdm_v2"},
    {"root_device_name", "img_root_device_name"},
    {"hypervisor_version_requires", "img_hv_requested_version"},
    {"hypervisor_type", "img_hv_type"},
};

static const struct {
    enum kind kind;
    const char *word, *canonical;
} synonyms[] = {
    {ARCHITECTURE, "i386", "i686"},
    {ARCHITECTURE, "i486", "i686"},
    {ARCHITECTURE, "i586", "i686"},
    {ARCHITECTURE, "x86_32", "i686"},
    {ARCHITECTURE, "x86_32p", "i686"},
    {ARCHITECTURE, "amd64", "x86_64"},
    {HYPERVISOR, "xapi", "xen"},
    {VM_MODE, "pv", "xen"},
    {VM_MODE, "hv", "hvm"},
    {VM_MODE, "baremetal", "hvm"},
};

#define VERSIONS "$vm.hints.hypervisor_versions"
#define NO_VERSION "<0" /* a condition that none agrees with */
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *canonical(enum kind kind, const char *text, struct arena *a)
{
    char *small = arena_strdup(a, text);

    for (char *at = small; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    for (size_t i = 0; i < COUNT_OF(synonyms); i++)
        if (synonyms[i].kind == kind && strcmp(synonyms[i].word, small) == 0)
            return synonyms[i].canonical;
    return small;
}

/* As Nova reads a truth. */
static bool says_true(const char *text, struct arena *a)
{
    static const char *const words[] = {"1", "t", "true", "on", "y", "yes"};
    struct words word = nova_words_split(text, a);

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (word.n == 1 && strcasecmp(word.items[0], words[i]) == 0)
            return true;
    return false;
}

/* The value as Nova prints it; NULL: it counts as not given. */
static int typed(const struct cloud *c, size_t property, const json_t *value, const char **ret)
{
    const char *text = nova_python_str(value, c->a);
    json_int_t whole;

    *ret = text && *text ? text : NULL;
    if (!*ret)
        return 0;
    switch (properties[property].kind) {
    case TEXT:
        return 0;
    case WHOLE:
        if (!nova_python_int(text, c->a, &whole))
            return err_set(c->err, -EINVAL, "/images: %s is \"%s\", expected a whole number",
                           properties[property].name, text);
        *ret = whole == 0 ? NULL : arena_printf(c->a, "%" JSON_INTEGER_FORMAT, whole);
        return 0;
    case TRUTH:
        *ret = says_true(text, c->a) ? "True" : NULL;
        return 0;
    case ARCHITECTURE:
    case HYPERVISOR:
    case VM_MODE:
        break;
    }
    *ret = canonical(properties[property].kind, text, c->a);
    return 0;
}

static const json_t *given_of(const json_t *image, const char *name)
{
    const json_t *given = json_object_get(image, name);

    for (size_t i = 0; !given && i < COUNT_OF(former_names); i++)
        if (strcmp(former_names[i].name, name) == 0)
            given = json_object_get(image, former_names[i].former);
    return given;
}

int image_properties_read(const struct cloud *c, const json_t *image, json_t **ret)
{
    const json_t *of = json_object_get(image, "properties");
    const char *text;
    int e = 0;

    *ret = json_object();
    for (size_t i = 0; e == 0 && i < COUNT_OF(properties); i++) {
        e = typed(c, i, given_of(json_is_object(of) ? of : image, properties[i].name), &text);
        if (e == 0 && text)
            (void)json_object_set_new(*ret, properties[i].name, json_string(text));
    }
    if (e < 0)
        json_decref(*ret);
    return e;
}

/* ---- ImagePropertiesFilter ---- */

static bool supports(const json_t *instance, const struct words *wanted)
{
    for (size_t w = 0; w < wanted->n; w++) {
        bool has = false;
        size_t i;
        const json_t *word;

        json_array_foreach(instance, i, word)
        {
            has = has || (json_is_string(word) && strcmp(json_string_value(word), wanted->items[w]) == 0);
        }
        if (!has)
            return false;
    }
    return true;
}

/* [architecture, hypervisor, mode] as one text. */
static const char *joined(const json_t *instance, struct arena *a)
{
    const char *ret = "";
    size_t i;
    const json_t *word;

    json_array_foreach(instance, i, word)
    {
        ret = arena_printf(a, "%s%s%s", ret, i > 0 ? "," : "",
                           json_is_string(word) ? json_string_value(word) : "");
    }
    return ret;
}

/* Gives every host the attribute, and lists those instances that have all that is wanted. */
static struct words supporting(struct cloud *c, const struct words *wanted)
{
    struct words ret = {0};
    size_t h;
    size_t i;
    const json_t *state;
    const json_t *instance;

    json_array_foreach(c->states, h, state)
    {
        json_t *texts = json_array();

        json_array_foreach(json_object_get(state, "supported_instances"), i, instance)
        {
            const char *text = joined(instance, c->a);

            (void)json_array_append_new(texts, json_string(text));
            if (supports(instance, wanted) && !nova_words_have(&ret, text))
                nova_words_add(&ret, text, c->a);
        }
        host_set(c, h, "supported_instances", texts);
    }
    return ret;
}

/* 2012000 is "2.12.0". Two or three numbers are a version to Nova; other texts agree with no condition. */
static const char *version_text(json_int_t version, struct arena *a)
{
    json_int_t major = version / 1000000;
    json_int_t minor = version / 1000 % 1000;
    json_int_t last = version % 1000;

    if (version < 1000 || major > 999)
        return "unknown";
    return version < 1000000 ? arena_printf(a, "%d.%d", (int)minor, (int)last)
                             : arena_printf(a, "%d.%d.%d", (int)major, (int)minor, (int)last);
}

/* Each condition has a version of two or three numbers. */
static bool are_conditions(const char *text, struct arena *a)
{
    struct words parts = nova_parts_split(text, ',', a);
    bool agrees;

    for (size_t i = 0; i < parts.n; i++) {
        size_t dots = 0;

        for (const char *at = parts.items[i]; *at; at++)
            dots += *at == '.';
        if (dots < 1 || dots > 2 || (parts.items[i][0] == '=' && parts.items[i][1] != '='))
            return false;
    }
    return version_agrees("0", text, &agrees);
}

/* A host that does not tell its version passes. */
static json_t *version_expression(struct cloud *c)
{
    size_t i;
    const json_t *state;

    json_array_foreach(c->states, i, state)
    {
        json_int_t version = json_integer_value(json_object_get(state, "hypervisor_version"));
        if (version != 0)
            host_set(c, i, "hypervisor_version_text", json_string(version_text(version, c->a)));
    }
    return vm_unless_given(VERSIONS, json_pack("[s, [s, [s, s]], [s, s, s]]", "or", "not", "given",
                                               ATTRIBUTE "hypervisor_version_text", "version",
                                               ATTRIBUTE "hypervisor_version_text", VERSIONS));
}

/* What the image wants of the instances that a host supports. */
static struct words wanted_of(const struct cloud *c, const struct request *r)
{
    static const char *const names[] = {"hw_architecture", "img_hv_type", "hw_vm_mode"};
    const char *architecture = conf_text(c, "filter_scheduler", "image_properties_default_architecture");
    struct words ret = {0};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *text = json_string_value(json_object_get(r->image, names[i]));

        if (!text && i == 0 && architecture && *architecture)
            text = canonical(ARCHITECTURE, architecture, c->a);
        if (text)
            nova_words_add(&ret, text, c->a);
    }
    return ret;
}

int nova_filter_image(struct cloud *c, const struct request *r, json_t **ret)
{
    const char *conditions = json_string_value(json_object_get(r->image, "img_hv_requested_version"));
    struct words wanted = wanted_of(c, r);
    struct words instances = wanted.n > 0 ? supporting(c, &wanted) : (struct words){0};

    if (wanted.n > 0 && conditions)
        (void)vm_set(c, r, "hints", "hypervisor_versions",
                     json_string(are_conditions(conditions, c->a) ? conditions : NO_VERSION));
    json_t *in = vm_texts_have(c, r, "instances", json_string(ATTRIBUTE "supported_instances"),
                               wanted.n > 0 ? &instances : NULL, false);

    *ret = json_pack("[s]", "and");
    if (in)
        (void)json_array_append_new(*ret, in);
    if (vm_given(c, VERSIONS))
        (void)json_array_append_new(*ret, version_expression(c));
    return 0;
}

/* ---- IsolatedHostsFilter ---- */

int nova_filter_isolated_hosts(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words hosts = conf_list(c, "filter_scheduler", "isolated_hosts", "");
    struct words images = conf_list(c, "filter_scheduler", "isolated_images", "");
    bool image_is = r->image_id && nova_words_have(&images, r->image_id);
    bool restricts;
    int e = conf_bool(c, "filter_scheduler", "restrict_isolated_hosts_to_isolated_images", true, &restricts);

    if (e < 0)
        return e;
    const char *isolated = vm_set(c, r, "hints", "isolated_image", json_boolean(image_is));
    json_t *host_is = nova_expression_in(json_string(HOST), &hosts, c->a);

    *ret = restricts ? json_pack("[s, s, o]", "=", isolated, host_is)
                     : json_pack("[s, [s, s], o]", "or", "not", isolated, host_is);
    return 0;
}
