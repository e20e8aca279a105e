/* home_assistant.c: writes Home Assistant's discovery messages. */
#include "mqtt/home_assistant.h"

#include "base/cleanup.h"
#include "base/json_writer.h"

#include <ballast/names.h>

#include <string.h>

/* A value of a device. NULL: the option is left out. */
struct component {
    const char *id, *platform, *name, *template;
    const char *device_class, *state_class, *unit, *category;
    bool states; /* one of the words of host states */
};

#define SENSOR "sensor"
#define BINARY "binary_sensor"
#define SWITCH "switch"
#define MEASUREMENT "measurement"
#define DIAGNOSTIC "diagnostic"
/* A host that is not in the inventory has no load. */
#define PERCENT_OF(member)                                                                                   \
    "{% set load = value_json.data.get('" member                                                             \
    "', {}).get('load') %}{{ none if load is none else (load * 100) | round | int }}"

static const struct component of_cluster[] = {
    {"imbalance", SENSOR, "Imbalance",
     "{{ value_json.data.pass.imbalance if value_json.data.pass else none }}", NULL, MEASUREMENT},
    {"hosts_on", SENSOR, "Hosts on", "{{ value_json.data.hosts.on }}", NULL, MEASUREMENT},
    {"hosts_standby", SENSOR, "Hosts in standby", "{{ value_json.data.hosts.standby }}", NULL, MEASUREMENT},
    {"vms", SENSOR, "VMs", "{{ value_json.data.vms }}", NULL, MEASUREMENT},
    {"power", SENSOR, "Power", "{{ value_json.data.power_w }}", "power", MEASUREMENT, "W"},
    {"recommendations", SENSOR, "Recommendations that wait", "{{ value_json.data.actions.recommended }}",
     NULL, MEASUREMENT},
    {"faults", SENSOR, "Faults", "{{ value_json.data.n_faults }}", NULL, MEASUREMENT},
    {"source", BINARY, "Source", "{{ 'ON' if value_json.data.source.state == 'up' else 'OFF' }}",
     "connectivity", NULL, NULL, DIAGNOSTIC},
};

static const struct component of_host[] = {
    {"state", SENSOR, "State", "{{ value_json.data.state }}", "enum", .states = true},
    {"cpu", SENSOR, "CPU", PERCENT_OF("cpu"), NULL, MEASUREMENT, "%"},
    {"memory", SENSOR, "Memory", PERCENT_OF("mem"), NULL, MEASUREMENT, "%"},
    {"power", SENSOR, "Power", "{{ value_json.data.get('power_w') }}", "power", MEASUREMENT, "W"},
    {"vms", SENSOR, "VMs", "{{ value_json.data.get('vms') }}", NULL, MEASUREMENT},
};

#define PAUSED "{{ 'ON' if value_json.data.frozen else 'OFF' }}"

/* One of them is there; the other is named without options, which removes it. */
static const struct component paused = {"paused", BINARY, "Paused", PAUSED};
static const struct component pause_switch = {"pause", SWITCH, "Pause", PAUSED};

/* ---- ids and topics --------------------------------------------------------------------------- */

static void put_id(const struct home_assistant *ha, const char *host, struct strbuf *out)
{
    topic_word(ha->topics.prefix, out);
    strbuf_puts(out, "__");
    topic_word(ha->topics.cluster, out);
    if (!host)
        return;
    strbuf_puts(out, "__");
    topic_word(host, out);
}

void home_assistant_topic(const struct home_assistant *ha, const char *host, struct strbuf *out)
{
    strbuf_printf(out, "%s/device/", ha->prefix);
    put_id(ha, host, out);
    strbuf_puts(out, "/config");
}

/* ---- the message ------------------------------------------------------------------------------ */

static void put_if(struct json_writer *w, const char *key, const char *text)
{
    if (text)
        jw_text(w, key, text);
}

static void put_component(struct json_writer *w, const struct component *c, const char *id, bool available,
                          const char *online)
{
    CLEANUP(strbuf_releasep) struct strbuf unique = STRBUF_EMPTY;

    strbuf_printf(&unique, "%s__%s", id, c->id);
    jw_text(w, "platform", c->platform);
    jw_text(w, "unique_id", unique.text);
    jw_text(w, "name", c->name);
    put_if(w, "value_template", c->template);
    put_if(w, "device_class", c->device_class);
    put_if(w, "state_class", c->state_class);
    put_if(w, "unit_of_measurement", c->unit);
    put_if(w, "entity_category", c->category);
    if (available) {
        jw_text(w, "availability_topic", online);
        jw_text(w, "payload_available", "online");
        jw_text(w, "payload_not_available", "offline");
    }
    if (!c->states)
        return;
    jw_begin(w, "options", JW_ARRAY, JW_INLINE);
    for (int i = 0; i < host_state_count; i++)
        jw_text(w, NULL, host_state_name((enum host_state)i));
    jw_end(w);
}

static void put_components(struct json_writer *w, const struct component *list, size_t n, const char *id,
                           const char *online)
{
    for (size_t i = 0; i < n; i++) {
        jw_begin(w, list[i].id, JW_OBJECT, JW_INLINE);
        put_component(w, &list[i], id, true, online);
        jw_end(w);
    }
}

/* The last will: shown as off, not as unavailable. */
static void put_service(struct json_writer *w, const char *id, const char *online)
{
    static const struct component service = {"service",      BINARY, "Service", NULL,
                                             "connectivity", NULL,   NULL,      DIAGNOSTIC};

    jw_begin(w, service.id, JW_OBJECT, JW_INLINE);
    put_component(w, &service, id, false, online);
    jw_text(w, "state_topic", online);
    jw_text(w, "payload_on", "online");
    jw_text(w, "payload_off", "offline");
    jw_end(w);
}

/* A command that waited on its way is refused. */
static void put_pause(struct json_writer *w, const struct home_assistant *ha, const char *id,
                      const char *online)
{
    const struct component *is = ha->pausable ? &pause_switch : &paused;
    const struct component *is_not = ha->pausable ? &paused : &pause_switch;
    CLEANUP(strbuf_releasep) struct strbuf commands = STRBUF_EMPTY;

    jw_begin(w, is->id, JW_OBJECT, JW_INLINE);
    put_component(w, is, id, true, online);
    if (ha->pausable) {
        topic_commands(&ha->topics, &commands);
        jw_text(w, "command_topic", commands.text);
        /* adds a member to the payload; versions of Home Assistant that do not know the option send it as it
         * is */
        jw_text(w, "command_template",
                "{{ value[:-1] }}, \"sent\": \"{{ utcnow().strftime('%Y-%m-%dT%H:%M:%SZ') }}\"}");
        jw_text(w, "payload_on", "{\"command\": \"pause\"}");
        jw_text(w, "payload_off", "{\"command\": \"resume\"}");
        jw_text(w, "state_on", "ON");
        jw_text(w, "state_off", "OFF");
        jw_int(w, "qos", 1);
    }
    jw_end(w);
    jw_begin(w, is_not->id, JW_OBJECT, JW_INLINE);
    jw_text(w, "platform", is_not->platform);
    jw_end(w);
}

static void put_device(struct json_writer *w, const struct home_assistant *ha, const char *host,
                       const char *name, const char *id)
{
    CLEANUP(strbuf_releasep) struct strbuf cluster = STRBUF_EMPTY;

    jw_begin(w, "device", JW_OBJECT, JW_INLINE);
    jw_begin(w, "identifiers", JW_ARRAY, JW_INLINE);
    jw_text(w, NULL, id);
    jw_end(w);
    jw_text(w, "name", !host ? ha->topics.cluster : *name ? name : host);
    jw_text(w, "manufacturer", "Ballast");
    jw_text(w, "model", host ? "Host" : "Cluster");
    if (host) {
        put_id(ha, NULL, &cluster);
        jw_text(w, "via_device", cluster.text);
    } else {
        jw_text(w, "sw_version", BALLAST_VERSION);
    }
    jw_end(w);
    jw_begin(w, "origin", JW_OBJECT, JW_INLINE);
    jw_text(w, "name", "Ballast");
    jw_text(w, "sw_version", BALLAST_VERSION);
    jw_end(w);
}

void home_assistant_config(const struct home_assistant *ha, const char *host, const char *name,
                           struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf id = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf state = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf online = STRBUF_EMPTY;
    struct json_writer w = {.out = &text};

    put_id(ha, host, &id);
    topic_online(&ha->topics, &online);
    if (host)
        topic_host(&ha->topics, host, &state);
    else
        topic_cluster(&ha->topics, &state);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    put_device(&w, ha, host, name, id.text);
    jw_text(&w, "state_topic", state.text);
    jw_begin(&w, "components", JW_OBJECT, JW_INLINE);
    if (host) {
        put_components(&w, of_host, sizeof of_host / sizeof *of_host, id.text, online.text);
    } else {
        put_components(&w, of_cluster, sizeof of_cluster / sizeof *of_cluster, id.text, online.text);
        put_service(&w, id.text, online.text);
        put_pause(&w, ha, id.text, online.text);
    }
    jw_end(&w);
    jw_end(&w);
    strbuf_add(out, text.text, text.len - 1); /* without the writer's newline */
}
