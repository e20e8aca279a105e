/* session.c: opens, uses and closes one RMCP+ session, and turns the library's errors into sentences. It
 * does not retry. */
#include "session.h"

#include "base/cleanup.h"
#include "base/ipmi_workaround.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>

#define FLAG(name) IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_##name

/* The library's codes for the serial console are not listed: no command returns them. */
static const unsigned flags[IPMI_WORKAROUND_COUNT] = {
    [IPMI_WORKAROUND_authcap] = FLAG(AUTHENTICATION_CAPABILITIES),
    [IPMI_WORKAROUND_intel20] = FLAG(INTEL_2_0_SESSION),
    [IPMI_WORKAROUND_supermicro20] = FLAG(SUPERMICRO_2_0_SESSION),
    [IPMI_WORKAROUND_sun20] = FLAG(SUN_2_0_SESSION),
    [IPMI_WORKAROUND_opensesspriv] = FLAG(OPEN_SESSION_PRIVILEGE),
    [IPMI_WORKAROUND_integritycheckvalue] = FLAG(NON_EMPTY_INTEGRITY_CHECK_VALUE),
    [IPMI_WORKAROUND_nochecksumcheck] = FLAG(NO_CHECKSUM_CHECK),
};

static const uint8_t privileges[] = {[IPMI_USER] = IPMI_PRIVILEGE_LEVEL_USER,
                                     [IPMI_OPERATOR] = IPMI_PRIVILEGE_LEVEL_OPERATOR,
                                     [IPMI_ADMIN] = IPMI_PRIVILEGE_LEVEL_ADMIN};

/* Replaces the placeholders in a sentence: %U user, %P privilege, %C cipher suite, %K the state of K_g. */
static const struct meaning {
    int errnum, code;
    bool again;
    const char *says;
} meanings[] = {
    {IPMI_ERR_USERNAME_INVALID, -EACCES, false,
     "there is no user \"%U\", or it is disabled or not admitted over LAN with privilege %P"},
    {IPMI_ERR_PASSWORD_INVALID, -EACCES, false,
     "the password of user \"%U\"%G is wrong; some controllers say so, too, when privilege %P is more than "
     "the user has, or when they need the workaround opensesspriv"},
    {IPMI_ERR_PASSWORD_VERIFICATION_TIMEOUT, -EACCES, false,
     "it falls silent when it has seen the password: that of user \"%U\" may be wrong"},
    {IPMI_ERR_K_G_INVALID, -EACCES, false, "%K"},
    {IPMI_ERR_PRIVILEGE_LEVEL_INSUFFICIENT, -EACCES, false,
     "privilege %P of user \"%U\" is too low: powering on and off wants operator"},
    {IPMI_ERR_PRIVILEGE_LEVEL_CANNOT_BE_OBTAINED, -EACCES, false,
     "user \"%U\" cannot have privilege %P: set `privilege` to what the user has; if it has that, set the "
     "workaround opensesspriv"},
    {IPMI_ERR_AUTHENTICATION_TYPE_UNAVAILABLE, -ENOTSUP, false,
     "it does not offer that kind of authentication"},
    {IPMI_ERR_CIPHER_SUITE_ID_UNAVAILABLE, -ENOTSUP, false,
     "it does not offer cipher suite %C to user \"%U\" with privilege %P: set `cipher_suite` to another (3, "
     "17)"},
    {IPMI_ERR_IPMI_2_0_UNAVAILABLE, -ENOTSUP, false, "it does not speak IPMI 2.0"},
    {IPMI_ERR_CONNECTION_TIMEOUT, -ETIMEDOUT, true, "it does not answer"},
    {IPMI_ERR_SESSION_TIMEOUT, -ETIMEDOUT, true, "it fell silent within a session"},
    {IPMI_ERR_MESSAGE_TIMEOUT, -ETIMEDOUT, true, "it took too long"},
    {IPMI_ERR_DRIVER_TIMEOUT, -ETIMEDOUT, true, "it took too long"},
    {IPMI_ERR_BMC_BUSY, -EBUSY, true, "it is busy, or has no session left"},
    {IPMI_ERR_COMMAND_INVALID_OR_UNSUPPORTED, -ENOTSUP, false,
     "it does not know a command that opening a session needs"},
    {IPMI_ERR_BAD_COMPLETION_CODE, -EPROTO, true,
     "it refuses to open a session, with a code that says nothing of use"},
    {IPMI_ERR_BAD_RMCPPLUS_STATUS_CODE, -EPROTO, true, "it broke off the opening of a session"},
    {IPMI_ERR_IPMI_ERROR, -EPROTO, true, "it answered against the rules of IPMI"},
    {IPMI_ERR_HOSTNAME_INVALID, -EHOSTUNREACH, false, "its address is not valid"},
    {IPMI_ERR_PARAMETERS, -EINVAL, false, "FreeIPMI does not take these settings"},
    {IPMI_ERR_OUT_OF_MEMORY, -ENOMEM, false, "out of memory"},
    {IPMI_ERR_SYSTEM_ERROR, -EIO, true, "the system refused to send or to receive"},
};

static const char *word_for(char letter, const struct ipmi_settings *s, char number[16])
{
    switch (letter) {
    case 'U':
        return s->username;
    case 'P':
        return ipmi_privilege_name(s->privilege);
    case 'C':
        (void)snprintf(number, 16, "%u", s->cipher_suite);
        return number;
    case 'K':
        return s->k_g_len ? "the key K_g is wrong, or none is wanted"
                          : "it wants the key K_g beside the password, and none is set";
    case 'G':
        return s->k_g_len ? " or the key K_g" : "";
    default:
        return "";
    }
}

static void fill_in(const char *says, const struct ipmi_settings *s, char *to, size_t size)
{
    size_t len = 0;

    to[0] = '\0';
    for (; *says && len + 1 < size; says++) {
        char number[16], one[2] = {*says, '\0'};
        const char *word = *says == '%' ? word_for(*++says, s, number) : one;
        int n = snprintf(to + len, size - len, "%s", word);
        len += (size_t)n < size - len ? (size_t)n : size - len - 1;
    }
}

static int explain(ipmi_ctx_t ctx, const struct ipmi_settings *s, bool *ret_again, struct err *err)
{
    int errnum = ipmi_ctx_errnum(ctx);
    char text[ERR_TEXT_MAX];

    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].errnum != errnum)
            continue;
        *ret_again = meanings[i].again;
        fill_in(meanings[i].says, s, text, sizeof text);
        return err_set(err, meanings[i].code, "%s", text);
    }
    *ret_again = true;
    if (errnum == IPMI_ERR_SUCCESS) /* 1.6.10: taking a packet apart failed */
        return err_set(err, -EPROTO, "it sends packets within a session that cannot be taken apart");
    return err_set(err, -EPROTO, "FreeIPMI fails: %s", ipmi_ctx_strerror(errnum));
}

/* libgcrypt must be initialised by one thread before others use it; FreeIPMI keeps its other state in each
 * context. This is the only state here that belongs to no session. */
static pthread_once_t set_up_once = PTHREAD_ONCE_INIT;
static int set_up_result;

static void set_up(void)
{
    set_up_result = ipmi_rmcpplus_init();
}

int ipmi_set_up(struct err *err)
{
    (void)pthread_once(&set_up_once, set_up);
    return set_up_result < 0 ? err_set(err, -ENOSYS, "libgcrypt cannot be set up for IPMI") : 0;
}

/* FreeIPMI waits in select(), which cannot handle a descriptor beyond FD_SETSIZE: glibc then aborts the
 * process.
 */
static int room_for_select(struct err *err)
{
    enum { MARGIN = 64 }; /* other threads open files meanwhile */
    CLEANUP(closep) int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (lowest < 0 || lowest >= FD_SETSIZE - MARGIN)
        return err_set(err, -EMFILE, "too many files are open: IPMI cannot do with more than %d",
                       FD_SETSIZE - MARGIN);
    return 0;
}

int ipmi_session_open(const struct ipmi_settings *s, const struct ipmi_peer *peer, struct ipmi_pace pace,
                      ipmi_ctx_t *ret, bool *ret_again, struct err *err)
{
    unsigned wanted = 0;
    int r = room_for_select(err);

    *ret_again = false;
    if (r < 0)
        return r;
    for (unsigned i = 0; i < IPMI_WORKAROUND_COUNT; i++)
        wanted |= s->workarounds & 1u << i ? flags[i] : 0;
    ipmi_ctx_t ctx = ipmi_ctx_create();
    if (!ctx)
        return err_set(err, -ENOMEM, "out of memory");
    if (ipmi_ctx_open_outofband_2_0(ctx, peer->address, s->username, s->password, s->k_g_len ? s->k_g : NULL,
                                    s->k_g_len, privileges[s->privilege], (uint8_t)s->cipher_suite,
                                    pace.give_up_ms, pace.repeat_ms, wanted, IPMI_FLAGS_DEFAULT) < 0) {
        r = explain(ctx, s, ret_again, err);
        ipmi_ctx_destroy(ctx);
        return r;
    }
    *ret = ctx;
    return 0;
}

int ipmi_session_why(const struct ipmi_settings *s, const struct deadline *d, struct err *err)
{
    uint8_t algorithms[3];

    if (ipmi_cipher_suite_id_to_algorithms((uint8_t)s->cipher_suite, &algorithms[0], &algorithms[1],
                                           &algorithms[2]) < 0)
        return 0;
    struct err why = {0};
    int r = ipmi_ask_why(s, algorithms, d, &why);
    if (r == 0 || r == -EPROTO)
        return 0;
    return err_set(err, r, "cipher suite %u, privilege %s: %s", s->cipher_suite,
                   ipmi_privilege_name(s->privilege), why.text);
}

int ipmi_session_command(ipmi_ctx_t ctx, const struct ipmi_settings *s, uint8_t net_fn, const uint8_t *rq,
                         size_t rq_len, uint8_t rs[IPMI_ANSWER_MAX], bool *ret_again, struct err *err)
{
    int n = ipmi_cmd_raw(ctx, 0, net_fn, rq, (unsigned)rq_len, rs, IPMI_ANSWER_MAX);

    return n < 0 ? explain(ctx, s, ret_again, err) : n;
}

void ipmi_session_close(ipmi_ctx_t ctx)
{
    if (!ctx)
        return;
    (void)ipmi_ctx_close(ctx);
    ipmi_ctx_destroy(ctx);
}
