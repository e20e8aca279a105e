/* ballast check-config: checks a configuration file as the service does when it starts. */
#include "base/json_writer.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/config.h"

enum { OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void put_json(const char *path, const struct config *c, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "file", path);
    jw_bool(&w, "ok", true);
    jw_text(&w, "cluster", c->cluster);
    jw_begin(&w, "warnings", JW_ARRAY, JW_LINES);
    for (size_t i = 0; i < c->n_warnings; i++)
        jw_text(&w, NULL, c->warnings[i]);
    jw_end(&w);
    jw_end(&w);
}

static enum exit_code verb_check_config_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *path = args->operands[0];
    enum cli_format format;
    struct config config;
    struct err err = {0};
    enum exit_code code = cli_parse_format(args, OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    if (config_load_for(path, CONFIG_FOR_CHECK, a, &config, &err) < 0) {
        cli_error("%s", err.text);
        return EXIT_WRONG;
    }
    for (size_t i = 0; i < config.n_warnings; i++)
        cli_error("warning: %s", config.warnings[i]);
    if (format == FORMAT_JSON)
        put_json(path, &config, out);
    else
        strbuf_printf(out, "%s: good\n", path);
    return EXIT_DONE;
}

const struct verb verb_check_config = {
    .name = "check-config",
    .summary = "Check a configuration file as the service does when it starts.",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_check_config_run,
};
