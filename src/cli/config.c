/* ballast config: what a reload would change in the running service; a configuration file in order; the keys
 * of a kind of source. */
#include "config/config.h"
#include "cli/client.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/format.h"
#include "render/table.h"

#include <stdlib.h>
#include <string.h>

#define KINDS "vsphere|libvirt|proxmox|sim|file"

enum { OPT_SOCKET, OPT_FORMAT, OPT_WRITE, OPT_KIND, OPT_COUNT };

static const struct option_spec options[OPT_COUNT] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
    [OPT_WRITE] = {"write", NULL, 0, "fmt: replace the file, instead of standard output"},
    [OPT_KIND] = {"kind", KINDS, 0, "show: the keys below `source:` of this kind"},
};

/* ---- diff ------------------------------------------------------------------------------------ */

static const struct {
    const char *effect, *title;
} effects[] = {
    {"now", "At once:"},
    {"next_login", "At the next login:"},
    {"after_power_changes", "Once the power changes under way have ended:"},
    {"next_start", "At the next start (systemctl restart):"},
};

static void put_value(const char *sign, const char *value, struct strbuf *out)
{
    strbuf_printf(out, "    %s", sign);
    table_put_hanging(out, value ? value : "(none)", 4 + strlen(sign), 4 + strlen(sign) + 1);
}

static void put_change(const json_t *change, struct strbuf *out)
{
    strbuf_puts(out, "  ");
    table_put_text(out, reply_text(change, "key"));
    strbuf_puts(out, "\n");
    if (json_is_true(json_object_get(change, "contents"))) {
        put_value(" ", "the contents of its file have changed", out);
        return;
    }
    put_value("-", reply_text(change, "now"), out);
    put_value("+", reply_text(change, "then"), out);
}

static void show_diff(const json_t *changes, struct strbuf *out)
{
    const json_t *one;
    size_t i;

    for (size_t k = 0; k < COUNT_OF(effects); k++) {
        bool any = false;

        json_array_foreach(changes, i, one)
        {
            const char *effect = reply_text(one, "effect");

            if (!effect || strcmp(effect, effects[k].effect) != 0)
                continue;
            if (!any)
                strbuf_printf(out, "%s%s\n", out->len > 0 ? "\n" : "", effects[k].title);
            any = true;
            put_change(one, out);
        }
    }
    if (json_array_size(changes) == 0)
        strbuf_puts(out, "no difference\n");
}

static void print_each(const char *before, const json_t *sentences)
{
    const json_t *one;
    size_t i;

    json_array_foreach(sentences, i, one)
        cli_error("%s%s", before, json_string_value(one) ? json_string_value(one) : "?");
}

/* The text goes with the request: the service need not be allowed to read the file, and a client cannot have
 * the service read one for it. */
static enum exit_code make_request(const char *file, struct arena *a, json_t **ret)
{
    struct err err = {0};
    char *text;
    size_t len;

    *ret = json_pack("{s:s}", "command", "config_diff");
    if (!file)
        return EXIT_DONE;
    char *whole = realpath(file, NULL);

    if (config_read_text(file, a, &text, &len, &err) < 0 || !whole) {
        free(whole);
        return cli_fail(EXIT_WRONG, "%s",
                        err.code ? err.text : arena_printf(a, "%s: cannot be opened", file));
    }
    const char *sent = config_without_comments(text, len, a, &len);
    json_t *json = json_stringn(sent, len);

    (void)json_object_set_new(*ret, "file", json_string(whole));
    (void)json_object_set_new(*ret, "text", json);
    free(whole);
    if (!json)
        return cli_fail(EXIT_WRONG, "%s: not text in UTF-8", file);
    char *line = json_dumps(*ret, JSON_COMPACT);
    const bool fits = line && strlen(line) < CLIENT_REQUEST_MAX;

    free(line);
    if (fits)
        return EXIT_DONE;
    return cli_fail(
        EXIT_WRONG,
        "%s: larger than a request may be (%zu KiB, without comments); put it in the place of the service's "
        "own file and leave out FILE",
        file, CLIENT_REQUEST_MAX / 1024);
}

static enum exit_code diff(const struct args *args, struct arena *a, struct strbuf *out)
{
    json_t *request = NULL, *reply = NULL;
    enum exit_code code = make_request(args->n_operands > 1 ? args->operands[1] : NULL, a, &request);

    if (code != EXIT_DONE) {
        json_decref(request);
        return code;
    }
    if ((code = client_call(args->socket, request, &reply)) != EXIT_DONE)
        return code;
    const json_t *found = json_object_get(reply, "config_diff");
    const json_t *mistakes = json_object_get(found, "mistakes");

    if (args->json)
        reply_dump(found, out);
    if (json_array_size(mistakes) > 0) {
        if (args->json)
            (void)cli_write(out);
        print_each("", mistakes);
        cli_error("a reload would refuse %s: the service would go on with the configuration in force",
                  reply_text(found, "file"));
        code = EXIT_WRONG;
    } else {
        print_each("warning: ", json_object_get(found, "warnings"));
        if (!args->json)
            show_diff(json_object_get(found, "changes"), out);
        code = json_array_size(json_object_get(found, "changes")) > 0 ? EXIT_FAILED : EXIT_DONE;
    }
    json_decref(reply);
    return code;
}

/* ---- fmt ------------------------------------------------------------------------------------- */

static enum exit_code fmt(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *file = args->operands[1];
    struct err err = {0};
    char *text;
    size_t len;

    if (config_read_text(file, a, &text, &len, &err) < 0 || config_format(file, text, len, a, out, &err) < 0)
        return cli_fail(EXIT_WRONG, "%s", err.text);
    const bool write = args->options[OPT_WRITE].n > 0;
    const bool same = out->len == len && memcmp(out->text, text, len) == 0;
    enum exit_code code = write && same ? EXIT_DONE : cli_write_file(write ? file : "-", out);

    strbuf_clear(out);
    return code;
}

/* ---- show ------------------------------------------------------------------------------------ */

static const char *meaning_of(const struct field *key, struct arena *a)
{
    const char *words = "";

    if (key->type != FIELD_LIST && key->max > 0)
        return arena_printf(a, "%s (%.12g to %.12g)", key->meaning, key->min, key->max);
    for (size_t i = 0; key->words && key->words[i]; i++)
        words = arena_printf(a, "%s%s%s", words, i > 0 ? ", " : "", key->words[i]);
    return words[0] ? arena_printf(a, "%s (%s)", key->meaning, words) : key->meaning;
}

/* Those of a section's entries follow it: "source.hosts.NAME.uri". */
static void add_keys(const char *above, const struct schema *keys, struct table *t, json_t *list)
{
    for (size_t i = 0; i < keys->n; i++) {
        const struct field *key = &keys->fields[i];
        const char *name = arena_printf(t->a, "%s.%s", above, key->name), *meaning = meaning_of(key, t->a);
        const bool required = key->flags & FIELD_REQUIRED;

        table_cell(t, name);
        table_cell(t, required ? "required" : key->fallback);
        table_cell(t, meaning);
        (void)json_array_append_new(list, json_pack("{s:s,s:s?,s:b,s:s}", "key", name, "default",
                                                    key->fallback, "required", required, "meaning", meaning));
        if (key->inner)
            add_keys(arena_printf(t->a, "%s.NAME", name), key->inner, t, list);
    }
}

static enum exit_code show(const struct args *args, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {{"KEY"}, {"DEFAULT"}, {"", .below = true}};
    const struct option_values *word = &args->options[OPT_KIND];
    const struct source_kind *kind = word->n > 0 ? config_source_kind(word->items[0]) : NULL;
    struct table t = table_of(a, columns, COUNT_OF(columns));

    if (!kind)
        return cli_fail(EXIT_WRONG, "--kind: \"%s\", expected " KINDS, word->n > 0 ? word->items[0] : "");
    json_t *list = json_array();

    add_keys("source", &kind->keys, &t, list);
    add_keys("source", &kind->settings, &t, list);
    if (args->json)
        reply_dump(list, out);
    else
        table_render(&t, "", out);
    json_decref(list);
    return EXIT_DONE;
}

/* ---- the verb -------------------------------------------------------------------------------- */

static enum exit_code verb_config_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *what = args->operands[0];
    const size_t n = args->n_operands, writes = args->options[OPT_WRITE].n, kinds = args->options[OPT_KIND].n;

    if (strcmp(what, "fmt") == 0 && n == 2 && kinds == 0)
        return fmt(args, a, out);
    if (strcmp(what, "show") == 0 && n == 1 && writes == 0)
        return show(args, a, out);
    if (strcmp(what, "diff") == 0 && writes == 0 && kinds == 0)
        return diff(args, a, out);
    return cli_fail(EXIT_WRONG, "ballast config: expected diff [FILE], fmt FILE, or show --kind KIND");
}

const struct verb verb_config = {
    .name = "config",
    .summary = "Show what a reload would change, or the keys of a kind of source; put a file in order.",
    .more = "`diff` has the service read FILE (default: its own file) as a reload does, and shows each key "
            "with its value now and then, and when it would take effect. Nothing changes. Values are "
            "settings; passwords are never shown. Exit codes: 0 no difference, 1 differences, 2 a reload "
            "would refuse the file, with each mistake on standard error.\n"
            "\n"
            "`fmt` moves the keys of FILE into the order of the ballast.yaml that comes with Ballast, with "
            "the comments above them, and changes no line. It needs no service and checks no values "
            "(`ballast check-config` does).\n"
            "\n"
            "`show` lists the keys below `source:` that a kind has of its own. It needs no service.",
    .operands = "diff [FILE]|fmt FILE|show",
    .operands_min = 1,
    .operands_max = 2,
    .options = options,
    .n_options = OPT_COUNT,
    .needs_service = true,
    .answers_no = true,
    .run = verb_config_run,
};
