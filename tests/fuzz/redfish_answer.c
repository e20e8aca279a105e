/* Answers of a Redfish service: each parsed as every kind of resource. */
#include "actuators/redfish/answer.h"

#include <stdlib.h>
#include <string.h>

static void read_paths(const json_t *o)
{
    static const char *const names[] = {"Systems", "SessionService", "Links.Sessions", "EnvironmentMetrics",
                                        "Power"};
    struct redfish_path path;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        /* whatever comes out goes into a request: nothing that ends a line or begins another host */
        if (redfish_link(o, names[i], &path) && (path.text[0] != '/' || strpbrk(path.text, " \r\n\\#")))
            abort();
    }
    (void)redfish_link_at(o, "Links.Chassis", 0, &path);
}

/* The same bytes as a Location header. */
static void read_header(const uint8_t *data, size_t size)
{
    struct redfish_path path;
    char *header = strndup((const char *)data, size);

    if (header && redfish_path_of(header, &path) == 0 && path.text[0] != '/')
        abort();
    if (header && redfish_path_from("/redfish/v1/Systems?$skip=1", header, &path) == 0 &&
        (path.text[0] != '/' || strpbrk(path.text, " \r\n\\#")))
        abort();
    free(header);
}

/* The answer as each kind of meter. */
static void read_watts(const json_t *o)
{
    const struct redfish_metered whose[] = {
        {.system = {"/redfish/v1/Systems/1"},
         .chassis = {"/redfish/v1/Chassis/1"},
         .alone = true,
         .clock = 1704067260},
        {.system = {"/redfish/v1/Systems/1"}, .chassis = {"/redfish/v1/Chassis/1"}, .shared = true},
    };
    struct err err;

    for (enum redfish_source source = REDFISH_ENVIRONMENT; source <= REDFISH_REPORT; source++) {
        for (size_t i = 0; i < sizeof whose / sizeof whose[0]; i++) {
            double watts = 0;
            if (redfish_watts(source, o, &whose[i], &watts, &err) == 0 && !(watts >= 0))
                abort();
        }
    }
    (void)redfish_chassis_is_shared(o);
    (void)redfish_clock(o);
}

/* The answer to a login, and what a refused one says. */
static void read_login(const json_t *o)
{
    const struct redfish_path sessions = {"/redfish/v1/SessionService/Sessions"};
    struct redfish_path path;
    char etag[REDFISH_ETAG_MAX];

    if (redfish_session_in(o, &sessions, &path) && (path.text[0] != '/' || strpbrk(path.text, " \r\n\\#")))
        abort();
    if (redfish_etag(o, "", etag) && strpbrk(etag, "\r\n"))
        abort();
    (void)redfish_sessions_are_full(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct redfish_path page = {"/redfish/v1/Systems"};
    struct redfish_search search = {.id = "1"};
    struct redfish_action action;
    enum redfish_power power;
    char words[REDFISH_WORDS_MAX];
    struct err err;
    json_t *o = NULL;

    read_header(data, size);
    if (redfish_parse((const char *)data, size, &o, &err) < 0)
        return 0;
    read_paths(o);
    (void)redfish_search_page(o, &page, &search, &err);
    (void)redfish_power_state(o, &power, &err);
    if (redfish_action(o, &action, &err) == 0)
        redfish_action_info(o, &action);
    read_watts(o);
    struct controller_identity identity;

    redfish_identity(o, &identity);
    if ((identity.uuid[0] != '\0' && strlen(identity.uuid) != 36) || strpbrk(identity.mark, "\r\n\033"))
        abort();
    read_login(o);
    (void)redfish_task_state(o);
    redfish_words(o, words);
    (void)redfish_refusal(400, o);
    json_decref(o);
    return 0;
}
