/* relay.c: runs ssh, which sends the packet from another machine, and explains ssh's failures. */
#include "actuators/wol/relay.h"

#include "base/cleanup.h"
#include "base/program.h"
#include "base/strbuf.h"
#include "net/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SSH "/usr/bin/ssh"
#define CONNECT_MAX_S 10
#define US_PER_MS 1000
#define SEEN_MAX ((size_t)256 * 1024) /* of what `ip` prints */
#define ARGS_MAX 32
#define SSH_FAILED 255      /* ssh's own exit code; any other is the command's */
#define COMMAND_MISSING 127 /* the shell's, and ours below */

/* The relay's program: sends standard input three times to the address in its arguments. It stands between
 * apostrophes and must contain none. It is written for python3 and for perl: every server has one of them.
 * In perl, 17 is AF_PACKET and UDP's number, 25 SO_BINDTODEVICE, 2114 the EtherType. */
#define RELAY_SHELL(python, perl)                                                                            \
    "sh -c '"                                                                                                \
    "if command -v python3 >/dev/null 2>&1; then exec python3 -c \"" python "\" \"$@\"; fi; "                \
    "if command -v perl >/dev/null 2>&1; then exec perl -e \"" perl "\" \"$@\"; fi; "                        \
    "echo neither python3 nor perl is installed >&2; exit 127' wake"

static const char udp_command[] =
    RELAY_SHELL("import socket as k,sys,time;p=sys.stdin.buffer.read(108);s=k.socket(k.AF_INET,k.SOCK_DGRAM);"
                "s.setsockopt(k.SOL_SOCKET,k.SO_BROADCAST,1);"
                "[s.setsockopt(k.SOL_SOCKET,k.SO_BINDTODEVICE,i.encode()+bytes(1)) for i in sys.argv[3:]];"
                "[(s.sendto(p,(sys.argv[1],int(sys.argv[2]))),time.sleep(.05)) for i in range(3)]",
                "use Socket;read STDIN,\\$p,108;socket S,AF_INET,SOCK_DGRAM,17 or die \\$!;"
                "setsockopt S,SOL_SOCKET,SO_BROADCAST,1 or die \\$!;"
                "@ARGV<3 or setsockopt S,SOL_SOCKET,25,\\$ARGV[2].chr 0 or die \\$!;"
                "\\$a=sockaddr_in \\$ARGV[1],inet_aton \\$ARGV[0];"
                "for(1..3){send S,\\$p,0,\\$a or die \\$!;select undef,undef,undef,.05}");

static const char raw_command[] = RELAY_SHELL(
    "import socket as k,sys,time;p=sys.stdin.buffer.read(108);s=k.socket(k.AF_PACKET,k.SOCK_DGRAM);"
    "[(s.sendto(p,(sys.argv[1],2114,0,0,bytes([255]*6))),time.sleep(.05)) for i in range(3)]",
    "read STDIN,\\$p,108;socket S,17,2,0 or die \\$!;"
    "open I,q(/sys/class/net/).\\$ARGV[0].q(/ifindex) or die \\$!;"
    "\\$a=pack q(SniSCCa8),17,2114,<I>,0,0,6,chr(255)x6;"
    "for(1..3){send S,\\$p,0,\\$a or die \\$!;select undef,undef,undef,.05}");

static const char look_command[] =
    "sh -c 'ip -json address show; ip -json -4 route get \"$1\" 2>/dev/null; :' look";

/* ---- ssh ---- */

struct arguments {
    const char *list[ARGS_MAX];
    size_t n;
    char timeout[32], port[16];
    struct strbuf command;
};

static void arguments_release(struct arguments *a)
{
    strbuf_release(&a->command);
}

static void add(struct arguments *a, const char *one, const char *two)
{
    a->list[a->n++] = one;
    if (two)
        a->list[a->n++] = two;
}

static void arguments_init(struct arguments *a, const struct relay_errand *e, bool look)
{
    int64_t left_s = (e->deadline_ms - net_now_ms() + 999) / 1000;

    strbuf_init(&a->command, STRBUF_NO_LIMIT);
    if (look)
        strbuf_printf(&a->command, "%s %s", look_command, e->address);
    else if (e->address)
        strbuf_printf(&a->command, "%s %s %u", udp_command, e->address, e->port);
    else
        strbuf_puts(&a->command, raw_command);
    if (e->interface && !look)
        strbuf_printf(&a->command, " %s", e->interface);
    (void)snprintf(a->timeout, sizeof a->timeout, "ConnectTimeout=%d",
                   (int)(left_s < 1               ? 1
                         : left_s < CONNECT_MAX_S ? left_s
                                                  : CONNECT_MAX_S));
    (void)snprintf(a->port, sizeof a->port, "%u", e->relay->port);
    add(a, SSH, "-T");
    add(a, "-a", "-x");
    add(a, "-o", "BatchMode=yes");
    add(a, "-o", "ControlPath=none"); /* a background master would outlive the call */
    add(a, "-o", "ClearAllForwardings=yes");
    add(a, "-o", "LogLevel=ERROR");
    add(a, "-o", a->timeout);
    if (e->relay->port)
        add(a, "-p", a->port);
    if (e->relay->user[0])
        add(a, "-l", e->relay->user);
    if (e->key_file) {
        add(a, "-i", e->key_file);
        add(a, "-o", "IdentitiesOnly=yes");
    }
    add(a, "--", e->relay->host);
    add(a, a->command.text, NULL);
}

/* ---- the result ---- */

static const struct {
    const char *words;
    int code;
} complaints[] = {
    {"Host key verification failed", -EKEYREJECTED},
    {"Permission denied", -EACCES},
    {"Operation not permitted", -EACCES},
    {"PermissionError", -EACCES},
    {"Too many authentication failures", -EACCES},
    {"Connection refused", -ECONNREFUSED},
    {"Connection timed out", -ETIMEDOUT},
    {"timed out", -ETIMEDOUT},
    {"No route to host", -EHOSTUNREACH},
    {"Network is unreachable", -EHOSTUNREACH},
    {"Could not resolve hostname", -EHOSTUNREACH},
};

static int complain(const struct relay_errand *e, const struct program_result *result, struct err *err)
{
    const struct strbuf *said = &result->errors;
    const int status = result->status;
    char line[PROGRAM_LINE_MAX];
    int code = -EIO;

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    for (size_t i = 0; code == -EIO && i < sizeof complaints / sizeof complaints[0]; i++) {
        if (strstr(said->text, complaints[i].words))
            code = complaints[i].code;
    }
    program_last_line(said, line, sizeof line);
    if (WIFSIGNALED(status))
        return err_set(err, code, "relay %s: ssh was ended by signal %d", e->relay->host, WTERMSIG(status));
    if (WEXITSTATUS(status) == COMMAND_MISSING)
        code = -ENOTSUP;
    return err_set(err, code, "relay %s: %s%s%s", e->relay->host,
                   WEXITSTATUS(status) == SSH_FAILED ? "not reached by ssh" : "it could not send the packet",
                   line[0] ? ": " : "", line);
}

/* m: NULL: the relay only reports its interfaces and routes. ret: its output; NULL: not wanted. */
static int run(const struct relay_errand *e, const struct magic *m, struct strbuf *ret, struct err *err)
{
    CLEANUP(arguments_release) struct arguments a = {.n = 0};
    CLEANUP(program_result_release) struct program_result result = {0};

    arguments_init(&a, e, m == NULL);
    const struct program ssh = {.argv = a.list,
                                .input = m ? m->byte : NULL,
                                .input_len = m ? m->len : 0,
                                .output_max = ret ? SEEN_MAX : 0,
                                .deadline_us = e->deadline_ms * US_PER_MS,
                                .stop = e->stop};
    int r = program_run(&ssh, &result);

    if (r == -ENOENT)
        return err_set(err, -ENOTSUP, "ssh is not installed here, and the relay is reached by it");
    if (r == -ETIMEDOUT)
        return err_set(err, r, "relay %s: ssh was not done in time", e->relay->host);
    if (r == -ECANCELED)
        return err_set(err, r, "relay %s: given up, because the service stops", e->relay->host);
    if (r < 0)
        return err_set(err, r, "ssh could not be started: %s", strerrordesc_np(-r));
    r = complain(e, &result, err);
    if (r == 0 && ret && !result.output.overflow) {
        *ret = result.output;
        result.output = (struct strbuf){0};
    }
    return r;
}

int relay_send(const struct relay_errand *e, const struct magic *m, struct err *err)
{
    return run(e, m, NULL, err);
}

int relay_look(const struct relay_errand *e, struct strbuf *ret, struct err *err)
{
    return run(e, NULL, ret, err);
}
