/* config.c: loads a file and checks the keys that depend on each other. */
#include "config/config.h"

#include "config/keys.h"
#include "config/section.h"
#include "config/sections.h"
#include "schema/yaml_tree.h"

#include "base/cleanup.h"
#include "base/service_user.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* sun_path keeps a NUL at its end. */
#define SOCKET_PATH_MAX (sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1)

#define FULL 100.0 /* percent */

/* ---- the source: keys that its kind requires or does not use ---- */

/* A key, or the first one of a section. */
static const struct field *find_key(const struct schema *keys, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < keys->n; i++) {
        const char *is = keys->fields[i].name;

        if (strncmp(is, name, len) == 0 && (is[len] == '\0' || is[len] == '.'))
            return &keys->fields[i];
    }
    return NULL;
}

static int check_required(const struct section *s, const struct schema *keys)
{
    for (size_t i = 0; i < keys->n; i++) {
        const char *name = arena_printf(s->reader.a, "source.%s", keys->fields[i].name);

        if (keys->fields[i].flags & FIELD_REQUIRED && !section_has(s, name))
            return section_refuse(s, name, "is missing, expected it because source.kind is %s",
                                  s->config->source.kind);
    }
    return 0;
}

static int check_settings(const struct section *s, const struct source_kind *kind)
{
    const void *settings = s->config->source_settings + config_source_settings_at(kind);
    const char *key = NULL;
    const char *mistake = kind->check ? kind->check(settings, s->reader.a, &key) : NULL;

    return mistake ? section_refuse(s, arena_printf(s->reader.a, "source.%s", key), "%s", mistake) : 0;
}

static int check_source_kind(const struct section *s)
{
    const struct source_kind *kind = config_source_kind(s->config->source.kind);
    int e;

    if ((e = check_required(s, &kind->keys)) < 0 || (e = check_required(s, &kind->settings)) < 0)
        return e;
    for (const struct node *n = node_find(s->root, "source")->first; n; n = n->next) {
        if (strcmp(n->key, "kind") != 0 && strcmp(n->key, "timeout_s") != 0 &&
            !find_key(&kind->keys, n->key) && !find_key(&kind->settings, n->key))
            section_warn(s, n->line, "source.%s is of no use to source.kind %s", n->key, kind->kind);
    }
    return check_settings(s, kind);
}

static void warn_about_tls(const struct section *s)
{
    const struct source_config *source = &s->config->source;

    if (!source->url)
        return;
    if (strncmp(source->url, "http://", strlen("http://")) == 0)
        section_warn(s, section_line(s, "source.url"),
                     "the source is asked over http: its password goes over the network in the clear");
    else if (!source->tls_verify)
        section_warn(s, section_line(s, "source.tls_verify"),
                     "TLS CERTIFICATES ARE NOT VERIFIED: a host in the network can pose as the source and "
                     "read its password");
    if (!source->tls_verify && source->ca_file)
        section_warn(s, section_line(s, "source.ca_file"),
                     "source.ca_file is of no use while source.tls_verify is false");
}

/* ---- the whole ---- */

static int check_socket(const struct section *s)
{
    size_t len = strlen(s->config->socket);

    if (len <= SOCKET_PATH_MAX)
        return 0;
    return section_refuse(s, "socket", "is a path of %zu bytes, expected at most %zu", len, SOCKET_PATH_MAX);
}

/* The line of the first key, or of the second if the first is not given. */
static unsigned line_of_either(const struct section *s, const char *key, const char *other)
{
    return section_line(s, section_has(s, key) ? key : other);
}

/* Accepted with a warning: possible, but probably a mistake. */
static void warn_about_dpm(const struct section *s)
{
    const struct dpm_policy *dpm = &s->config->policy.dpm;
    unsigned line = line_of_either(s, "dpm.target", "dpm.tolerance");

    if (!dpm->enabled)
        return;
    if (dpm->target + dpm->tolerance > FULL)
        section_warn(
            s, line,
            "dpm.target and dpm.tolerance let hosts be filled to %.12g %% before another one is woken: "
            "VMs lack what is beyond what a host has",
            dpm->target + dpm->tolerance);
    if (dpm->target - dpm->tolerance <= 0)
        section_warn(
            s, line,
            "dpm.target and dpm.tolerance put no host to standby: none is ever used less than %.12g %%",
            dpm->target - dpm->tolerance);
    if (dpm->off_min_s <= dpm->standby_s)
        section_warn(s, line_of_either(s, "dpm.off_min_s", "dpm.standby_s"),
                     "dpm.off_min_s (%lld) is not more than dpm.standby_s (%lld): no host is put to standby",
                     (long long)dpm->off_min_s, (long long)dpm->standby_s);
}

static void warn_about_policy(const struct section *s)
{
    const char *key;
    const char *warning = policy_warning(&s->config->policy, &key);

    if (warning)
        section_warn(s, section_line(s, key), "%s", warning);
}

static int check_pauses(const struct section *s)
{
    const struct avoid_policy *avoid = &s->config->policy.avoid;

    if (avoid->pause_s <= avoid->pause_max_s)
        return 0;
    return section_refuse(s, section_has(s, "avoid.pause_s") ? "avoid.pause_s" : "avoid.pause_max_s",
                          "makes the first pause %lld s, longer than the longest: avoid.pause_max_s is %lld, "
                          "expected at least as much as avoid.pause_s",
                          (long long)avoid->pause_s, (long long)avoid->pause_max_s);
}

static int note(const struct reader *r, int result)
{
    return reader_note_mistake(r, result);
}

/* The checks that need several keys. */
static int finish(const struct section *s, const struct schema *keys)
{
    struct config *c = s->config;
    const struct reader *r = &s->reader;
    int e = 0;

    if (!c->cluster)
        e = note(r, section_refuse(s, "cluster", "is missing, expected the cluster's name"));
    if (e == 0 && !c->source.kind)
        return section_refuse(s, "source.kind", "is missing, expected %s",
                              reader_words(r, config_source_words(r->a)));
    if (e < 0 || (e = note(r, check_socket(s))) < 0 || (e = note(r, check_source_kind(s))) < 0 ||
        (e = note(r, section_files(s, keys, "source.", c))) < 0 ||
        (e = note(r, config_check_mqtt(s, keys))) < 0 || (e = note(r, config_check_http(s, keys))) < 0 ||
        (e = note(r, check_pauses(s))) < 0)
        return e;
    warn_about_tls(s);
    warn_about_policy(s);
    warn_about_dpm(s);
    return 0;
}

/* The sections with readers of their own: each has its first mistake listed. */
static int read_sections(const struct section *of)
{
    static int (*const readers[])(const struct section *s) = {
        config_read_power, config_read_schedule, config_read_overlay, config_read_roles, config_read_alarms};
    struct section s = *of;
    int e = 0;

    s.reader.mistakes = NULL; /* what follows a wrong key in them needs it */
    for (size_t i = 0; i < sizeof readers / sizeof *readers && e == 0; i++)
        e = note(&of->reader, readers[i](&s));
    return e;
}

/* Later checks need what the earlier ones have read. */
static int check_mistakes(const struct mistakes *m, int e)
{
    return e < 0 || !m || m->n == 0 ? e : -EINVAL;
}

int config_parse_all(const char *path, const char *text, size_t len, enum config_use use, struct arena *a,
                     struct config *ret, struct mistakes *mistakes, struct err *err)
{
    struct config c = {.path = arena_strdup(a, path)};
    struct notes notes = {0};
    struct node *root = NULL;
    struct section s = {
        .reader = {.file = c.path, .example = section_example, .a = a, .err = err, .mistakes = mistakes},
        .prefix = "",
        .use = use,
        .config = &c,
        .notes = &notes};
    struct schema schema = {.what = ""};

    int r = yaml_tree_parse(c.path, text, len, a, &root, err);

    if (r < 0)
        return r;
    s.root = root;
    section_warn_if_kept_away(&s, 1, c.path);
    const struct node *kind = node_find(root, "source.kind");

    schema.fields = config_keys(kind ? node_text(kind) : NULL, a, &schema.n);
    policy_default(&c.policy);
    reader_defaults(&s.reader, &schema, &c);
    r = former_keys_rename(&s, root);
    if (r == 0)
        r = check_mistakes(mistakes, reader_object(&s.reader, root, &schema, &c));
    if (r == 0)
        r = check_mistakes(mistakes, read_sections(&s));
    if (r == 0 && use != CONFIG_FOR_POLICY)
        r = check_mistakes(mistakes, finish(&s, &schema));
    if (r == 0)
        *ret = c;
    return r;
}

int config_parse(const char *path, const char *text, size_t len, enum config_use use, struct arena *a,
                 struct config *ret, struct err *err)
{
    return config_parse_all(path, text, len, use, a, ret, NULL, err);
}

/* Reads the limit and one byte more at most: a device or a pipe must not fill the memory. */
int config_read_text(const char *path, struct arena *a, char **ret, size_t *ret_len, struct err *err)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char advice[SERVICE_USER_ADVICE_MAX];
    size_t len = 0;

    if (fd < 0 && errno == EACCES)
        return err_set(err, -EACCES, "%s: cannot be opened: %s; %s", path, strerror(EACCES),
                       service_user_advice(path, advice));
    if (fd < 0)
        return err_set(err, -errno, "%s: cannot be opened: %s%s", path, strerror(errno),
                       errno == ENOENT ? "; `ballast setup` writes a first one" : "");
    char *text = arena_array(a, char, CONFIG_SIZE_MAX + 1);

    for (;;) {
        ssize_t n = read(fd, text + len, CONFIG_SIZE_MAX + 1 - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, -errno, "%s: cannot be read: %s", path, strerror(errno));
        if (n == 0)
            break;
        len += (size_t)n;
        if (len > CONFIG_SIZE_MAX)
            return err_set(err, -EINVAL, "%s:1: the file is larger than 1 MiB, expected a configuration",
                           path);
    }
    *ret = text;
    *ret_len = len;
    return 0;
}

int config_load_for(const char *path, enum config_use use, struct arena *a, struct config *ret,
                    struct err *err)
{
    char *text = NULL;
    size_t len = 0;
    int r = config_read_text(path, a, &text, &len, err);

    return r < 0 ? r : config_parse(path, text, len, use, a, ret, err);
}

int config_load(const char *path, struct arena *a, struct config *ret, struct err *err)
{
    return config_load_for(path, CONFIG_FOR_SERVICE, a, ret, err);
}

void config_source(const struct config *c, struct source_config *ret)
{
    *ret = c->source;
    ret->settings = c->source_settings + config_source_settings_at(config_source_kind(c->source.kind));
    ret->seed = (uint64_t)c->policy.seed;
}

const char *config_source_name(const struct config *c, struct arena *a)
{
    const struct source_kind *kind = config_source_kind(c->source.kind);
    const struct field *file = find_key(&kind->settings, "file");
    const char *place = c->source.url;

    if (!place && file)
        place = field_text(file, c->source_settings + config_source_settings_at(kind), a);
    return arena_printf(a, "%s %s %s", kind->kind, place ? place : "-",
                        c->source.cluster ? c->source.cluster : "-");
}
