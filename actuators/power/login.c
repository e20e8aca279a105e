/* login.c: keeps the calls of all workers, and the readings of meters, from locking a controller's account
 * (net/login_guards.h). Each call of a method that logs in is between power_login_begin() and _end(). */
#include "actuators/power/internal.h"

#include "base/xalloc.h"
#include "net/login_guards.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCOUNT_MAX POWER_ACCOUNT_MAX

/* The server in "https://BMC:443/" and "BMC:623", in one way of writing, so that the entries of a multi-node
 * chassis share a guard however each is written. */
static void put_server(const char *address, char ret[ACCOUNT_MAX])
{
    const char *scheme = strstr(address, "://");
    const char *from = scheme ? scheme + strlen("://") : address;
    size_t len = strcspn(from, "/?#");

    len = len < ACCOUNT_MAX - 1 ? len : ACCOUNT_MAX - 1;
    for (size_t i = 0; i < len; i++)
        ret[i] = (char)tolower((unsigned char)from[i]);
    ret[len] = '\0';
    const char *port = scheme ? ":443" : ":623";

    if (len > strlen(port) && strcmp(ret + len - strlen(port), port) == 0)
        ret[len - strlen(port)] = '\0';
}

static void put_account(const char *word, const char *user, const char *address, char ret[ACCOUNT_MAX])
{
    char server[ACCOUNT_MAX];

    put_server(address, server);
    (void)snprintf(ret, ACCOUNT_MAX, "%s %.200s@%.280s", word, user ? user : "", server);
}

/* What is sent to the controller, and under which account; false: the method has no password. A host's keys
 * are part of the secret, because a controller refuses a wrong one like a wrong password. */
static bool account_of(const struct power_host *h, enum power_method_kind kind, char account[ACCOUNT_MAX],
                       const char *secrets[2])
{
    const char *user = NULL;
    const char *address = NULL;
    const char *word = NULL;

    switch (kind) {
    case POWER_IPMI:
        word = "ipmi";
        user = h->ipmi.username;
        address = h->ipmi.address;
        secrets[0] = h->ipmi.password;
        secrets[1] = h->ipmi.k_g;
        break;
    case POWER_REDFISH:
        word = "redfish";
        user = h->redfish.username;
        address = h->redfish.url;
        secrets[0] = h->redfish.password;
        break;
    case POWER_HYPERVISOR: /* has a guard of its own */
    case POWER_WOL:        /* has no account that could be locked */
    case POWER_METHOD_COUNT:
        break;
    }
    if (!word || !address)
        return false;
    put_account(word, user, address, account);
    return true;
}

bool power_account(const struct power_host *h, enum power_method_kind kind, char ret[POWER_ACCOUNT_MAX])
{
    const char *secrets[2];

    return account_of(h, kind, ret, secrets);
}

static char *joined(const char *const secrets[2])
{
    const char *first = secrets[0] ? secrets[0] : "";
    const char *second = secrets[1] ? secrets[1] : "";
    size_t size = strlen(first) + strlen(second) + 2;
    char *ret = xcalloc(size, 1);

    (void)snprintf(ret, size, "%s\n%s", first, second);
    return ret;
}

int power_login_begin(const struct power_config *config, const struct power_host *h,
                      enum power_method_kind kind, struct power_login *ret, struct err *err)
{
    char account[ACCOUNT_MAX];
    const char *secrets[2] = {NULL, NULL};
    int64_t left_s = 0;

    *ret = (struct power_login){0};
    if (!config->logins || !account_of(h, kind, account, secrets))
        return 0;
    ret->guard = login_guards_of(config->logins, account);
    if (!ret->guard)
        return 0;
    ret->password = joined(secrets);
    int64_t now_ms = power_clock_ms(config);
    int r = login_guard_begin(ret->guard, ret->password, now_ms, now_ms + (int64_t)h->timeout_s * 1000,
                              h->stop, &left_s);

    if (r == 0)
        return 0;
    ret->guard = NULL;
    power_login_end(config, ret, 0);
    if (r == -EACCES)
        return err_set(
            err, r,
            "host %s: %s: the password was refused; so that the account is not locked, the next try is "
            "in %lld s, or once its file or the configuration has changed and was read again",
            h->name, account, (long long)left_s);
    if (r == -ECANCELED)
        return err_set(err, r, "host %s: %s: the service stops", h->name, account);
    /* nothing was sent */
    return err_set(err, -ECONNREFUSED,
                   "host %s: %s: another login is under way, and has not ended within %u s", h->name, account,
                   h->timeout_s);
}

void power_login_end(const struct power_config *config, struct power_login *login, int code)
{
    if (login->guard)
        (void)login_guard_end(login->guard, login->password, code == 0, code == -EACCES,
                              power_clock_ms(config));
    if (login->password)
        explicit_bzero(login->password, strlen(login->password));
    free(login->password);
    *login = (struct power_login){0};
}

/* ---- the console ---- */

static bool uses_ipmi(const struct power_host *h)
{
    for (size_t i = 0; i < h->n_sequence; i++) {
        if (h->sequence[i] == POWER_IPMI)
            return true;
    }
    return false;
}

static struct login_guard *console_guard(const struct power_config *config, const struct power_host *h,
                                         char account[ACCOUNT_MAX])
{
    put_account("console", h->ipmi.username, h->ipmi.address, account);
    return config->logins ? login_guards_of(config->logins, account) : NULL;
}

static char *ipmi_secret(const struct power_host *h)
{
    return joined((const char *const[2]){h->ipmi.password, h->ipmi.k_g});
}

static void forget_secret(char *secret)
{
    explicit_bzero(secret, strlen(secret));
    free(secret);
}

int power_console_begin(const struct power_config *config, const struct power_host *h, struct err *err)
{
    char account[ACCOUNT_MAX], of_calls[ACCOUNT_MAX];
    const char *secrets[2];

    if (!h->ipmi.address)
        return err_set(err, -ENOTSUP, "host %s: it has no IPMI controller, so no console", h->name);
    struct login_guard *console = console_guard(config, h, account);
    struct login_guard *calls = console && account_of(h, POWER_IPMI, of_calls, secrets)
                                    ? login_guards_of(config->logins, of_calls)
                                    : NULL;
    char *secret = ipmi_secret(h);
    int64_t now_ms = power_clock_ms(config), left_s = 0;
    int r = 0;

    if (calls && uses_ipmi(h) && !login_guard_accepts(calls, secret))
        r = err_set(err, -EAGAIN, "host %s: the console is opened once an IPMI login at %s has worked",
                    h->name, h->ipmi.address);
    if (r == 0 && console && (r = login_guard_begin(console, secret, now_ms, now_ms, h->stop, &left_s)) == 0)
        (void)login_guard_end(console, secret, false, false, now_ms); /* its answer comes later */
    else if (r == -EACCES)
        r = err_set(err, r, "host %s: %s: the password was refused; the next try is in %lld s", h->name,
                    account, (long long)left_s);
    forget_secret(secret);
    return r;
}

void power_console_result(const struct power_config *config, const struct power_host *h, int code)
{
    char account[ACCOUNT_MAX];
    struct login_guard *console = console_guard(config, h, account);
    char *secret = ipmi_secret(h);
    int64_t now_ms = power_clock_ms(config), left_s = 0;

    if (console && (code == 0 || code == -EACCES) &&
        login_guard_begin(console, secret, now_ms, now_ms, NULL, &left_s) == 0)
        (void)login_guard_end(console, secret, code == 0, code == -EACCES, now_ms);
    forget_secret(secret);
}
