/* alarms.c: the targets of alarms, each checked by its kind: a webhook, a mail server or a command. */
#include "config/sections.h"

#include "base/texts.h"
#include "config/keys.h"

#include <ctype.h>
#include <string.h>

#define TARGETS_MOST 32
#define NAME_MOST 32
#define WORDS_MOST 100
#define ADDRESS_MOST 254 /* RFC 5321, section 4.5.3.1.3 */
#define AT(member) offsetof(struct config_alarm, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct config_alarm, member, type, __VA_ARGS__)

const char *const config_alarm_severities[] = {
    [ALARM_SEVERITY_INFO] = "info",       [ALARM_SEVERITY_NOTICE] = "notice",
    [ALARM_SEVERITY_WARNING] = "warning", [ALARM_SEVERITY_ERROR] = "error",
    [ALARM_SEVERITY_NONE] = "none",       NULL};

/* ---- values ---------------------------------------------------------------------------------- */

/* Standard Webhooks: "whsec_" and the base64 of 24 to 64 bytes. */
static const char *check_secret(const char *text)
{
    static const char expected[] = "whsec_ and 24 to 64 random bytes in base64, as made by "
                                   "`echo whsec_$(openssl rand -base64 32)`";
    static const char prefix[] = "whsec_";
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return expected;
    text += sizeof prefix - 1;
    size_t len = strlen(text), plain = strspn(text, digits), padding = len - plain;

    if (len % 4 != 0 || padding > 2 || strspn(text + plain, "=") != padding)
        return expected;
    size_t bytes = len / 4 * 3 - padding;

    return bytes >= 24 && bytes <= 64 ? NULL : expected;
}

static const char *check_kind(const char *text)
{
    enum event_kind kind;

    return event_kind_parse(text, &kind) == 0 ? NULL : "a kind of event, as ballastd(8) lists them";
}

/* What goes into a command of SMTP and into a header as it is; quoted local parts are left out. */
static const char *check_address(const char *text)
{
    const char *at = strchr(text, '@');
    size_t len = strlen(text);

    if (!at || at == text || at[1] == '\0' || strchr(at + 1, '@') || len > ADDRESS_MOST)
        return "an address such as ops@example.com";
    for (const char *c = text; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("@.!#$%&'*+-/=?^_`{|}~", *c))
            return "an address such as ops@example.com, of ASCII characters without quotes";
    }
    return NULL;
}

static const char *const schemes[] = {"https", "http", "smtp", "smtps", NULL};

static const struct field target_keys[] = {
    KEY("url", url, FIELD_URL, .words = schemes,
        .meaning = "https: a webhook; smtp: a mail server, by STARTTLS; smtps: one by TLS"),
    KEY("command", command, FIELD_LIST, .max = WORDS_MOST,
        .meaning = "a program that gets the mail on its standard input: path and arguments, without a shell"),
    KEY("secret_file", secret_file, FIELD_SECRET, .secret = AT(secret), .check = check_secret,
        .meaning =
            "a file with the secret that webhooks are signed with, whsec_ and base64, on its only line"),
    KEY("username", username, FIELD_TEXT, .meaning = "the user to log in as"),
    KEY("password_file", password_file, FIELD_SECRET, .secret = AT(password),
        .meaning = "a file with the password on its only line; only the service should be able to read it"),
    KEY("ca_file", ca_file, FIELD_PATH, .flags = FIELD_READABLE,
        .meaning = "PEM certificates of the authorities to trust; default: the system's"),
    KEY("tls_verify", tls_verify, FIELD_BOOL, .fallback = "true",
        .meaning = "false accepts any certificate; each start logs a warning"),
    KEY("starttls", starttls, FIELD_BOOL, .fallback = "true",
        .meaning = "false lets mail go to an smtp: url in the clear"),
    KEY("from", from, FIELD_TEXT, .check = check_address, .meaning = "the address that mail comes from"),
    KEY("to", to, FIELD_LIST, .max = WORDS_MOST, .check = check_address,
        .meaning = "the addresses that mail goes to"),
    KEY("severity", severity, FIELD_WORD, .words = config_alarm_severities, .fallback = "warning",
        .meaning = "events of this severity and above; none: the digest only"),
    KEY("kinds", kinds, FIELD_LIST, .max = WORDS_MOST, .flags = FIELD_KNOWN_WORDS, .check = check_kind,
        .meaning = "events of these kinds only"),
    KEY("hosts", hosts, FIELD_LIST, .max = WORDS_MOST,
        .meaning = "events about these hosts only, by id or name; with vms, about either"),
    KEY("vms", vms, FIELD_LIST, .max = WORDS_MOST, .meaning = "events about these VMs only, by id or name"),
    KEY("digest", digest, FIELD_TEXT,
        .meaning = "when a summary is sent of what happened since the last one: a calendar expression"),
    KEY("interval_s", interval_s, FIELD_INT, .min = 1, .max = 86400, .fallback = "60",
        .meaning = "seconds between two messages, at least; what happens meanwhile goes together"),
};

const struct schema config_alarm_keys = {
    .what = "", .fields = target_keys, .n = sizeof target_keys / sizeof *target_keys};

/* ---- keys that depend on each other ----------------------------------------------------------- */

bool config_alarm_is_webhook(const struct config_alarm *t)
{
    return t->url && strncmp(t->url, "http", 4) == 0;
}

static bool is_clear(const struct config_alarm *t)
{
    return t->url && (strncmp(t->url, "http:", 5) == 0 || (strncmp(t->url, "smtp:", 5) == 0 && !t->starttls));
}

static void warn_of_no_use(const struct section *s, const char *const *list, const char *to)
{
    for (; *list; list++) {
        if (section_has(s, *list))
            section_warn(s, section_line(s, *list), "%s%s is of no use to %s", s->prefix, *list, to);
    }
}

static int check_webhook(const struct section *s, const struct config_alarm *t)
{
    static const char *const of_mail[] = {"from", "to", "starttls", NULL};

    warn_of_no_use(s, of_mail, "a webhook");
    if (!t->secret_file && !t->password_file)
        section_warn(
            s, section_line(s, "url"),
            "%ssecret_file is not given: the receiver cannot tell a forged message from one of Ballast",
            s->prefix);
    return 0;
}

static int check_mail_server(const struct section *s, const struct config_alarm *t)
{
    static const char *const of_webhooks[] = {"secret_file", NULL};
    const char *rest = strstr(t->url, "://") + strlen("://");

    warn_of_no_use(s, of_webhooks, "a mail server");
    rest += strcspn(rest, "/?#");
    if (*rest != '\0' && strcmp(rest, "/") != 0)
        return section_refuse(s, "url", "has a path, expected smtp://HOST[:PORT]");
    if (!t->from)
        return section_refuse(s, "from", "is missing, expected the address that mail comes from");
    if (!*t->to)
        return section_refuse(s, "to", "is missing, expected the addresses that mail goes to");
    return 0;
}

static int check_command(const struct section *s, const struct config_alarm *t)
{
    static const char *const of_peers[] = {
        "secret_file", "username", "password_file", "ca_file", "tls_verify", "starttls", NULL};

    warn_of_no_use(s, of_peers, "a command");
    if (!*t->command || (*t->command)[0] != '/')
        return section_refuse(s, *t->command ? "command" : "url",
                              *t->command ? "does not begin with the absolute path of a program"
                                          : "is missing, expected url or command");
    return 0;
}

static void warn_about_tls(const struct section *s, const struct config_alarm *t)
{
    if (is_clear(t))
        section_warn(s, section_line(s, "url"), "%surl: what is sent%s goes over the network in the clear",
                     s->prefix, t->password_file ? ", and the password," : "");
    else if (t->url && !t->tls_verify)
        section_warn(s, section_line(s, "tls_verify"),
                     "TLS CERTIFICATES ARE NOT VERIFIED: a host in the network can pose as the target of "
                     "%.*s and read what is sent",
                     (int)strlen(s->prefix) - 1, s->prefix);
}

static int check_target(const struct section *s, struct config_alarm *t)
{
    struct err why = {0};
    int e;

    if (t->url && *t->command)
        return section_refuse(s, "command", "is given besides url, expected one of them");
    e = !t->url                      ? check_command(s, t)
        : config_alarm_is_webhook(t) ? check_webhook(s, t)
                                     : check_mail_server(s, t);
    if (e < 0)
        return e;
    if (!t->username != !t->password_file)
        return section_refuse(s, t->username ? "password_file" : "username",
                              "is missing, expected both username and password_file, or neither");
    if (t->digest &&
        calendar_parse(t->digest, s->config->schedule.zone, s->reader.a, &t->digest_at, &why) < 0)
        return section_refuse(s, "digest", ": %s", why.text);
    if (t->severity == ALARM_SEVERITY_NONE && !t->digest)
        section_warn(s, section_line(s, "severity"),
                     "%sseverity is none and there is no digest: nothing is sent", s->prefix);
    warn_about_tls(s, t);
    return section_files(s, &config_alarm_keys, "", t);
}

/* ---- the section ----------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
    size_t len = strlen(text);

    return len > 0 && len <= NAME_MOST &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

int config_read_alarms(const struct section *s)
{
    const struct node *map = node_find(s->root, "alarms");
    struct config *c = s->config;

    if (!map || node_is_null(map))
        return 0;
    if (map->kind != NODE_MAP || map->n > TARGETS_MOST)
        return reader_refuse(&s->reader, map, "a section of at most 32 targets, by name");
    c->alarms = arena_array(s->reader.a, struct config_alarm, map->n + 1);
    for (const struct node *n = map->first; n; n = n->next) {
        struct config_alarm *t = &c->alarms[c->n_alarms];
        struct section sub = section_at(s, arena_printf(s->reader.a, "alarms.%.64s.", n->key), n);
        int e;

        if (!is_name(n->key))
            return reader_complain(&s->reader, n,
                                   "is no name of a target, expected at most 32 letters, digits, _ and -");
        reader_defaults(&s->reader, &config_alarm_keys, t);
        t->name = arena_strdup(s->reader.a, n->key);
        if ((e = reader_object(&sub.reader, n, &config_alarm_keys, t)) < 0 || (e = check_target(&sub, t)) < 0)
            return e;
        c->n_alarms++;
    }
    return 0;
}

void config_alarm_copy(const struct config_alarm *from, struct config_alarm *ret, struct arena *a)
{
    struct config_alarm copy = *from;

    copy.name = arena_strdup(a, from->name);
    for (size_t i = 0; i < config_alarm_keys.n; i++)
        field_copy(&config_alarm_keys.fields[i], from, &copy, a);
    copy.digest_at.zone = arena_strdup(a, from->digest_at.zone);
    copy.digest_at.text = arena_strdup(a, from->digest_at.text);
    *ret = copy;
}

bool config_alarm_secrets_changed(const struct config *old, const struct config *now)
{
    for (size_t i = 0; i < now->n_alarms; i++) {
        for (size_t k = 0; k < old->n_alarms; k++) {
            const struct config_alarm *x = &now->alarms[i], *y = &old->alarms[k];

            if (strcmp(x->name, y->name) == 0 &&
                (!texts_same(x->secret, y->secret) || !texts_same(x->password, y->password)))
                return true;
        }
    }
    return false;
}
