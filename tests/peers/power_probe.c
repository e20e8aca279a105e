/* power_probe: runs one power method of a host by hand, for tests and for diagnosing a controller.
 *
 *     power_probe METHOD [KEY=VALUE]...
 *
 * METHOD is ipmi, redfish or wol; the keys are those of the method below `power.hosts.NAME`, and name,
 * timeout_s and hard_off; KEY_file is a file that holds the value; workarounds has commas. Reads commands
 * from standard input, one a line, and answers each with one line of JSON:
 *
 *     chassis | wake | shut_down | cut | watts | identify
 *     same shut_down | same cut  only if the machine answers that identify reported last
 *     network                    Wake-on-LAN: whether a packet can leave here, or the relay
 *     open                       IPMI: the serial console
 *     read MS [BYTES]            its output meanwhile, cleaned, and the number of bytes; ends early once
 *                                BYTES have come
 *     close
 *     stop MS COMMAND            COMMAND, with a stop of the service after MS
 *
 * {"ok": true, "ms": 12, ...} or {"ok": false, "ms": 12, "error": "EACCES", "text": "..."}. */
#include "actuators/ipmi/console.h"
#include "actuators/ipmi/ipmi.h"
#include "actuators/redfish/redfish.h"
#include "actuators/wol/network.h"
#include "actuators/wol/relay_network.h"
#include "actuators/wol/wol.h"
#include "base/cleanup.h"
#include "base/console_text.h"
#include "base/log.h"
#include "net/http.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORKAROUNDS_MAX 16
#define FILES_MAX 4

struct probe {
    const struct power_method_ops *ops;
    struct power_host host;
    const char *workarounds[WORKAROUNDS_MAX + 1];
    char from_file[FILES_MAX][512];
    size_t n_files;
    struct power_method *method;
    struct controller_identity identity; /* as reported last */
    struct console *console;
    atomic_bool stop;
    unsigned stop_ms;
};

static const struct {
    const char *word;
    const struct power_method_ops *ops;
} methods[] = {
    {"ipmi", &ipmi_method},
    {"redfish", &redfish_method},
    {"wol", &wol_method},
};

/* ---- the configuration ---- */

enum value_kind { TEXT, NUMBER, BOOL };

/* By method, because several have a username; NULL: any. */
static const struct {
    const char *method, *key;
    enum value_kind kind;
    size_t offset;
} keys[] = {
    {NULL, "name", TEXT, offsetof(struct power_host, name)},
    {NULL, "timeout_s", NUMBER, offsetof(struct power_host, timeout_s)},
    {NULL, "hard_off", BOOL, offsetof(struct power_host, hard_off)},
    {"ipmi", "address", TEXT, offsetof(struct power_host, ipmi.address)},
    {"ipmi", "username", TEXT, offsetof(struct power_host, ipmi.username)},
    {"ipmi", "password", TEXT, offsetof(struct power_host, ipmi.password)},
    {"ipmi", "k_g", TEXT, offsetof(struct power_host, ipmi.k_g)},
    {"ipmi", "privilege", TEXT, offsetof(struct power_host, ipmi.privilege)},
    {"ipmi", "cipher_suite", NUMBER, offsetof(struct power_host, ipmi.cipher_suite)},
    {"redfish", "url", TEXT, offsetof(struct power_host, redfish.url)},
    {"redfish", "username", TEXT, offsetof(struct power_host, redfish.username)},
    {"redfish", "password", TEXT, offsetof(struct power_host, redfish.password)},
    {"redfish", "ca_file", TEXT, offsetof(struct power_host, redfish.ca_file)},
    {"redfish", "tls_verify", BOOL, offsetof(struct power_host, redfish.tls_verify)},
    {"redfish", "power_button", BOOL, offsetof(struct power_host, redfish.power_button)},
    {"redfish", "system", TEXT, offsetof(struct power_host, redfish.system)},
    {"wol", "mac", TEXT, offsetof(struct power_host, wol.mac)},
    {"wol", "secureon", TEXT, offsetof(struct power_host, wol.secureon)},
    {"wol", "interface", TEXT, offsetof(struct power_host, wol.interface)},
    {"wol", "broadcast", TEXT, offsetof(struct power_host, wol.broadcast)},
    {"wol", "port", NUMBER, offsetof(struct power_host, wol.port)},
    {"wol", "relay", TEXT, offsetof(struct power_host, wol.relay)},
    {"wol", "relay_key", TEXT, offsetof(struct power_host, wol.relay_key)},
};

static bool set_key(struct probe *p, const char *method, const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        void *to = (char *)&p->host + keys[i].offset;

        if (strcmp(keys[i].key, key) != 0 || (keys[i].method && strcmp(keys[i].method, method) != 0))
            continue;
        switch (keys[i].kind) {
        case TEXT:
            *(const char **)to = value;
            break;
        case NUMBER:
            *(unsigned *)to = (unsigned)strtoul(value, NULL, 10);
            break;
        case BOOL:
            *(bool *)to = strcmp(value, "true") == 0;
            break;
        }
        return true;
    }
    return false;
}

/* The first line of a file. */
static const char *read_file(struct probe *p, const char *path)
{
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    char *to = p->n_files < FILES_MAX ? p->from_file[p->n_files] : NULL;

    if (!f || !to || !fgets(to, sizeof p->from_file[0], f))
        return NULL;
    p->n_files++;
    to[strcspn(to, "\n")] = '\0';
    return to;
}

static bool set(struct probe *p, const char *method, char *argument)
{
    char *value = strchr(argument, '=');

    if (!value)
        return false;
    *value++ = '\0';
    if (strcmp(argument, "workarounds") == 0) {
        for (size_t n = 0; n < WORKAROUNDS_MAX && value;) {
            const char *word = strsep(&value, ",");
            if (word[0] != '\0')
                p->workarounds[n++] = word;
        }
        return true;
    }
    if (set_key(p, method, argument, value))
        return true;
    char *tail = strstr(argument, "_file");
    const char *held = tail && tail[5] == '\0' ? read_file(p, value) : NULL;
    if (!held)
        return false;
    *tail = '\0';
    return set_key(p, method, argument, held);
}

static bool read_arguments(struct probe *p, int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof methods / sizeof methods[0]; i++) {
        if (strcmp(methods[i].word, argv[1]) == 0)
            p->ops = methods[i].ops;
    }
    if (!p->ops) {
        (void)fprintf(stderr, "power_probe: expected a METHOD first\n");
        return false;
    }
    for (int i = 2; i < argc; i++) {
        if (!set(p, argv[1], argv[i])) {
            (void)fprintf(stderr, "power_probe: %s: not understood\n", argv[i]);
            return false;
        }
    }
    return true;
}

/* ---- the commands ---- */

static int do_chassis(struct probe *p, json_t *answer, struct err *err)
{
    enum chassis is = CHASSIS_UNKNOWN;
    int r = p->ops->chassis(p->method, &is, err);

    if (r == 0)
        json_object_set_new(answer, "on", json_boolean(is == CHASSIS_ON));
    return r;
}

static int do_watts(struct probe *p, json_t *answer, struct err *err)
{
    double w = 0;
    int r = p->ops->watts(p->method, &w, err);

    if (r == 0)
        json_object_set_new(answer, "watts", json_real(w));
    return r;
}

static int do_identify(struct probe *p, json_t *answer, struct err *err)
{
    struct controller_identity is = {0};
    int r = p->ops->identify(p->method, &is, err);

    p->identity = is;
    if (r == 0)
        json_object_update_new(answer, json_pack("{s:s,s:s}", "uuid", is.uuid, "mark", is.mark));
    return r;
}

static int do_read(struct probe *p, const char *line, json_t *answer)
{
    char *rest = NULL;
    int64_t ms = strtol(line, &rest, 10);
    size_t enough = strtoul(rest, NULL, 10); /* 0: there is none */
    struct pollfd fd = {.fd = console_fd(p->console), .events = POLLIN};
    struct err err = {0};
    CLEANUP(strbuf_releasep) struct strbuf raw = {0}, clean = {0};
    int64_t until = net_now_ms() + ms, left;

    strbuf_init(&raw, 1 << 20);
    strbuf_init(&clean, 1 << 20);
    while (!err.code && (enough == 0 || raw.len < enough) && (left = until - net_now_ms()) > 0) {
        char bytes[512];
        if (poll(&fd, 1, (int)left) <= 0)
            continue;
        ssize_t n = console_read(p->console, bytes, sizeof bytes, &err);
        if (n > 0)
            strbuf_add(&raw, bytes, (size_t)n);
    }
    console_text_clean(raw.text, raw.len, &clean);
    return json_object_update_new(answer,
                                  json_pack("{s:s,s:I,s:s,s:i}", "said", clean.text, "bytes",
                                            (json_int_t)raw.len, "ended", err.text, "code", err.code));
}

static int obey_console(struct probe *p, const char *line, json_t *answer, struct err *err)
{
    if (strcmp(line, "open") == 0 && p->ops == &ipmi_method && !p->console)
        return console_open(&p->host, &p->console, err);
    if (strncmp(line, "read ", 5) == 0 && p->console)
        return do_read(p, line + 5, answer);
    if (strcmp(line, "close") == 0) {
        console_close(p->console);
        p->console = NULL;
        return 0;
    }
    return err_set(err, -EINVAL, "no such command, or not this method's: %s", line);
}

static int do_wake(struct probe *p, json_t *answer, struct err *err)
{
    int r = p->ops->wake(p->method, err);

    if (r == -ESTALE)
        *err = (struct err){0};
    (void)json_object_set_new(answer, "was_on", json_boolean(r == -ESTALE));
    return r == -ESTALE ? 0 : r;
}

static int obey(struct probe *p, const char *line, json_t *answer, struct err *err)
{
    const struct {
        const char *word;
        int (*verb)(struct power_method *m, const struct controller_identity *only, struct err *err);
    } downs[] = {{"shut_down", p->ops->shut_down}, {"cut", p->ops->cut}};
    const bool same = strncmp(line, "same ", 5) == 0;

    for (size_t i = 0; i < sizeof downs / sizeof downs[0]; i++) {
        if (strcmp(same ? line + 5 : line, downs[i].word) == 0 && downs[i].verb)
            return downs[i].verb(p->method, same ? &p->identity : NULL, err);
    }
    if (strcmp(line, "wake") == 0 && p->ops->wake)
        return do_wake(p, answer, err);
    if (strcmp(line, "network") == 0 && p->ops == &wol_method)
        return p->host.wol.relay ? wol_check_relay(&p->host, err) : wol_check_network(&p->host, err);
    if (strcmp(line, "chassis") == 0 && p->ops->chassis)
        return do_chassis(p, answer, err);
    if (strcmp(line, "watts") == 0 && p->ops->watts)
        return do_watts(p, answer, err);
    if (strcmp(line, "identify") == 0 && p->ops->identify)
        return do_identify(p, answer, err);
    return obey_console(p, line, answer, err);
}

static void *go_down(void *argument)
{
    struct probe *p = argument;
    const struct timespec wait = {.tv_sec = p->stop_ms / 1000, .tv_nsec = p->stop_ms % 1000 * 1000000L};

    (void)nanosleep(&wait, NULL);
    atomic_store(&p->stop, true);
    return NULL;
}

static int obey_and_stop(struct probe *p, char *line, json_t *answer, struct err *err)
{
    pthread_t thread;
    char *rest = NULL;

    p->stop_ms = (unsigned)strtoul(line, &rest, 10);
    if (*rest != ' ' || pthread_create(&thread, NULL, go_down, p) != 0)
        return err_set(err, -EINVAL, "stop MS COMMAND");
    int r = obey(p, rest + 1, answer, err);
    (void)pthread_join(thread, NULL);
    atomic_store(&p->stop, false);
    return r;
}

static void say(json_t *answer, int r, int64_t ms, const struct err *err)
{
    json_object_set_new(answer, "ok", json_boolean(r >= 0));
    json_object_set_new(answer, "ms", json_integer(ms));
    if (r < 0) {
        json_object_set_new(answer, "error", json_string(strerrorname_np(-r)));
        json_object_set_new(answer, "text", json_string(err->text));
    }
    (void)json_dumpf(answer, stdout, JSON_COMPACT);
    (void)fputc('\n', stdout);
    (void)fflush(stdout);
    json_decref(answer);
}

static void serve(struct probe *p)
{
    CLEANUP(freep) char *line = NULL;
    size_t size = 0;

    while (getline(&line, &size, stdin) > 0) {
        json_t *answer = json_object();
        struct err err = {0};
        int64_t began = net_now_ms();

        line[strcspn(line, "\n")] = '\0';
        int r = strncmp(line, "stop ", 5) == 0 ? obey_and_stop(p, line + 5, answer, &err)
                                               : obey(p, line, answer, &err);
        say(answer, r, net_now_ms() - began, &err);
    }
}

int main(int argc, char **argv)
{
    struct probe p = {.host = {.name = "probe",
                               .timeout_s = 10,
                               .stop = &p.stop,
                               .ipmi = {.cipher_suite = 3, .privilege = "admin", .console = true},
                               .redfish = {.tls_verify = true},
                               .wol = {.port = 9}}};
    struct err err = {0};

    p.host.ipmi.workarounds = p.workarounds;
    if (!read_arguments(&p, argc, argv))
        return 2;
    (void)signal(SIGPIPE, SIG_IGN); /* as http.h asks */
    log_set_level(LOG_LEVEL_DEBUG);
    int r = p.ops->create(&p.host, &p.method, &err);
    if (r < 0)
        say(json_object(), r, 0, &err);
    else
        serve(&p);
    console_close(p.console);
    console_shutdown();
    p.ops->destroy(p.method);
    return r < 0 ? 1 : 0;
}
