/* ballast backup: copies the service's store. It needs no running service, only its files. */
#include "store/backup.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/config.h"

#include <errno.h>

#define CONFIG_DEFAULT "/etc/ballast/ballast.yaml"

enum { OPT_CONFIG, OPT_FORCE };

static const struct option_spec options[] = {
    [OPT_CONFIG] = {"config", "FILE", 0, "the service's configuration; default " CONFIG_DEFAULT},
    [OPT_FORCE] = {"force", NULL, 0, "replace the file if it exists; never a device or the store itself"},
};

static enum exit_code verb_backup_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *file = args->operands[0];
    struct config config;
    struct err err = {0};

    if (config_load_for(args_value(args, OPT_CONFIG, CONFIG_DEFAULT), CONFIG_FOR_POLICY, a, &config, &err) <
        0)
        return cli_fail(EXIT_WRONG, "%s%s", err.text,
                        err.code == -ENOENT && args->options[OPT_CONFIG].n == 0 ? "; --config names another"
                                                                                : "");
    if (store_backup(config.state_dir, file, args->options[OPT_FORCE].n > 0, &err) < 0)
        return cli_fail(err.code == -EEXIST || err.code == -EINVAL ? EXIT_WRONG : EXIT_FAILED,
                        "ballast backup: %s", err.text);
    strbuf_printf(out, "%s: a copy of the store in %s\n", file, config.state_dir);
    return EXIT_DONE;
}

const struct verb verb_backup = {
    .name = "backup",
    .summary = "Copy the service's store to a file, also while the service runs.",
    .more = "The file has mode 0600. The user must be allowed to read the service's state directory. "
            "ballastd(8) says how to restore a copy.",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_backup_run,
};
