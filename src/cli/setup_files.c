/* setup_files.c: writes them, the configuration with a comment before each key. */
#include "cli/setup_files.h"

#include "base/cleanup.h"
#include "base/service_user.h"
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PACKAGED                                                                                             \
    "cluster: simulated\nautomation: manual\nsource: {kind: sim}\n" /* what the package installs */

const struct field *setup_file_key(const struct setup *s, const char *key)
{
    size_t n;
    const struct field *keys = config_keys(s->answers[KIND].typed, s->a, &n);

    while (n > 1 && strcmp(keys[n - 1].name, key) != 0)
        n--;
    return &keys[n - 1];
}

const char *setup_file_of(const struct setup *s, const struct answer *x)
{
    if (x->field->type == FIELD_SECRET)
        return arena_printf(s->a, "%s.password", s->stem);
    return strncmp(x->typed, PEM_BEGIN, strlen(PEM_BEGIN)) == 0 ? arena_printf(s->a, "%s-ca.pem", s->stem)
                                                                : NULL;
}

static void put_key(const struct setup *s, const char *key, const char *value, struct strbuf *out)
{
    const char *below = strchr(key, '.');

    strbuf_printf(out, "\n%s# %s\n", below ? "  " : "", setup_file_key(s, key)->meaning);
    strbuf_printf(out, "%s%s: %s\n", below ? "  " : "", below ? below + 1 : key, value);
}

void setup_file_put_config(const struct setup *s, struct strbuf *out)
{
    const char *state = s->packaged ? "/var/lib/ballast" : s->folder;
    const char *run = s->packaged ? "/run/ballast" : s->folder;

    strbuf_puts(out,
                "# The configuration of ballastd, by `ballast setup`. ballast.yaml(5) lists every setting;\n"
                "# `ballast check-config --connect FILE` checks this file and what it names.\n");
    put_key(s, "cluster",
            setup_kinds_quote(s->answers[NAME].typed ? s->answers[NAME].typed : "unnamed", s->a), out);
    put_key(s, "automation", "manual", out);
    if (!s->packaged || strcmp(s->stem, "ballast") != 0) {
        put_key(s, "state_dir", setup_kinds_quote(arena_printf(s->a, "%s/%s", state, s->stem), s->a), out);
        put_key(s, "socket", setup_kinds_quote(arena_printf(s->a, "%s/%s/ballastd.sock", run, s->stem), s->a),
                out);
    }
    strbuf_puts(out, "\nsource:");
    for (size_t i = KIND; i < s->n; i++) {
        const struct answer *x = &s->answers[i];

        if (!x->typed || !x->typed[0])
            continue;
        const char *file = setup_file_of(s, x);

        put_key(s, x->question->key,
                (x->question->value ? x->question->value : setup_kinds_quote)(file ? file : x->typed, s->a),
                out);
    }
}

static int write_file(const struct setup *s, const char *folder, const char *name, const struct strbuf *text)
{
    const char *path = arena_printf(s->a, "%s/%s", folder, name);

    if (cli_write_file(path, text) != EXIT_DONE)
        return -EIO;
    (void)service_user_give(path);
    if (folder != s->stage)
        cli_error("written: %s", path);
    return 0;
}

/* The configuration last: what it names is there by then. */
static int write_files(const struct setup *s, const char *folder)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    int r = 0;

    for (size_t i = KIND; i < s->n && r == 0; i++) {
        const struct answer *x = &s->answers[i];

        if (!x->typed || !setup_file_of(s, x))
            continue;
        strbuf_printf(&text, "%s\n", x->typed);
        r = write_file(s, folder, setup_file_of(s, x), &text);
        strbuf_clear(&text);
    }
    setup_file_put_config(s, &text);
    return r < 0 ? r : write_file(s, folder, s->name, &text);
}

/* Where the file is there. What others could read they cannot read any more: the next may be a secret. */
static int keep_copy(const struct setup *s, const char *name)
{
    const char *path = arena_printf(s->a, "%s/%s", s->folder, name);
    const char *copy = arena_printf(s->a, "%s.before-%lld", path, (long long)time(NULL));
    struct stat st;

    if (stat(path, &st) < 0)
        return 0;
    if (linkat(AT_FDCWD, path, AT_FDCWD, copy, AT_SYMLINK_FOLLOW) < 0) {
        cli_error("%s: no copy can be kept as %s: %s; nothing was changed", path, copy, strerror(errno));
        return -errno;
    }
    if (strcmp(name, s->name) != 0)
        (void)chmod(path, st.st_mode & 0770);
    cli_error("kept as %s: what %s was", copy, name);
    return 0;
}

/* All copies before the first file is another. */
int setup_file_replace(const struct setup *s)
{
    int r = keep_copy(s, s->name);

    for (size_t i = KIND; i < s->n && r == 0; i++) {
        const struct answer *x = &s->answers[i];

        r = x->typed && setup_file_of(s, x) ? keep_copy(s, setup_file_of(s, x)) : 0;
    }
    return r < 0 ? r : write_files(s, s->folder);
}

bool setup_file_may_replace(const struct setup *s, const char *path)
{
    struct config now, packaged;
    struct config_change *changes;

    if (access(path, F_OK) < 0 ||
        (config_load_for(path, CONFIG_FOR_POLICY, s->a, &now, NULL) == 0 &&
         config_parse("", PACKAGED, strlen(PACKAGED), CONFIG_FOR_POLICY, s->a, &packaged, NULL) == 0 &&
         config_changes(&packaged, &now, s->a, &changes) == 0))
        return true;
    return cli_asked(arena_printf(s->a, "%s is there; replace it, and keep a copy", path));
}

/* The units read /etc/ballast/NAME.yaml, and NAME is that of an instance. */
bool setup_file_check_place(const struct setup *s)
{
    const size_t letters =
        strspn(s->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    if (letters == 0 || strcmp(s->name + letters, ".yaml") != 0)
        cli_error("--config: %s: expected NAME.yaml, NAME of letters, digits, - and _", s->name);
    else if (s->packaged && strcmp(s->folder, dirname(arena_strdup(s->a, CONFIG_DEFAULT))) != 0)
        cli_error("--config: %s: the service reads the files in /etc/ballast, and no folder below it",
                  s->folder);
    else
        return true;
    return false;
}

bool setup_file_make_stage(struct setup *s)
{
    char *stage = arena_printf(s->a, "%s/.setup-XXXXXX", s->folder);

    if (!mkdtemp(stage)) {
        cli_error(
            "%s: no file can be made there: %s; use sudo, or name a file in another folder with --config",
            s->folder, strerror(errno));
        return false;
    }
    s->stage = stage;
    (void)umask(077);
    (void)service_user_give(stage);
    return true;
}

void setup_file_remove_stage(const struct setup *s)
{
    (void)unlink(arena_printf(s->a, "%s/%s.password", s->stage, s->stem));
    (void)unlink(arena_printf(s->a, "%s/%s-ca.pem", s->stage, s->stem));
    (void)unlink(arena_printf(s->a, "%s/%s", s->stage, s->name));
    (void)rmdir(s->stage);
}

int setup_file_write_stage(const struct setup *s)
{
    return write_files(s, s->stage);
}
