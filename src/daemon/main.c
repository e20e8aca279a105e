/* main.c: options and exit codes of ballastd. The service itself is service.c. */
#include "base/cleanup.h"
#include "base/log.h"
#include "base/service_user.h"
#include "config/config.h"
#include "daemon/service.h"
#include "daemon/threads/power_setup.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CONFIG_DEFAULT "/etc/ballast/ballast.yaml"
#define EXIT_CANNOT 1
#define EXIT_WRONG 2 /* usage or configuration */

static const char usage[] =
    "Usage: ballastd [--config FILE] [--check] [--verbose]\n"
    "\n"
    "Balances a cluster of hypervisors: recommends live migrations, standby and wake\n"
    "of hosts, and carries out what is approved. Stays in the foreground and logs to\n"
    "standard error; SIGTERM stops it, SIGHUP reads the configuration again.\n"
    "\n"
    "  --config FILE  the configuration; default " CONFIG_DEFAULT "\n"
    "  --check        check the configuration and exit\n"
    "  --verbose      log more\n"
    "  --help         show this help\n"
    "  --version      show the version\n"
    "\n"
    "Exit codes: 0 stopped on request; 1 failure; 2 wrong usage or configuration.\n";

enum mode { MODE_RUN, MODE_CHECK, MODE_HELP, MODE_VERSION, MODE_WRONG };

static enum mode read_options(int argc, char **argv, const char **ret_config)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'}, {"check", no_argument, NULL, 'k'},
        {"verbose", no_argument, NULL, 'v'},      {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},      {NULL, 0, NULL, 0},
    };
    enum mode mode = MODE_RUN;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":c:hv", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            *ret_config = optarg;
            break;
        case 'k':
            mode = MODE_CHECK;
            break;
        case 'v':
            log_set_level(LOG_LEVEL_DEBUG);
            break;
        case 'h':
            return MODE_HELP;
        case 'V':
            return MODE_VERSION;
        case ':':
            (void)fprintf(stderr, "ballastd: %s needs a value, see ballastd --help\n", argv[optind - 1]);
            return MODE_WRONG;
        default:
            (void)fprintf(stderr, "ballastd: unknown option %s, see ballastd --help\n", argv[optind - 1]);
            return MODE_WRONG;
        }
    }
    if (optind < argc) {
        (void)fprintf(stderr, "ballastd: \"%s\" is not expected, see ballastd --help\n", argv[optind]);
        return MODE_WRONG;
    }
    return mode;
}

static int load_and_run(const char *path, enum mode mode, char *const argv[])
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config config;
    struct err err = {0};
    enum config_use use = mode == MODE_CHECK ? CONFIG_FOR_CHECK : CONFIG_FOR_SERVICE;
    const bool as_service =
        mode == MODE_CHECK && geteuid() == 0 && service_user_of(path) == SERVICE_USER_OTHER;
    char full[PATH_MAX];

    if ((as_service && service_user_become(path, full, &err) < 0) ||
        config_load_for(as_service ? full : path, use, &a, &config, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        return EXIT_WRONG;
    }
    if (mode == MODE_CHECK) {
        if (power_setup_check(&config, &err) < 0) {
            (void)fprintf(stderr, "%s: %s\n", path, err.text);
            return EXIT_WRONG;
        }
        for (size_t i = 0; i < config.n_warnings; i++)
            (void)fprintf(stderr, "warning: %s\n", config.warnings[i]);
        (void)printf("%s: good\n", path);
        return EXIT_SUCCESS;
    }
    if (service_run(&config, argv, &err) < 0) {
        log_error("%s", err.text);
        return EXIT_CANNOT;
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *path = CONFIG_DEFAULT;
    enum mode mode = read_options(argc, argv, &path);

    switch (mode) {
    case MODE_HELP:
        (void)fputs(usage, stdout);
        return EXIT_SUCCESS;
    case MODE_VERSION:
        (void)puts("ballastd " BALLAST_VERSION);
        return EXIT_SUCCESS;
    case MODE_WRONG:
        return EXIT_WRONG;
    case MODE_RUN:
    case MODE_CHECK:
        break;
    }
    return load_and_run(path, mode, argv);
}
