/* relay.c: runs ssh, which sends the packet from another machine, and explains ssh's failures. */
#include "actuators/wol/relay.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "net/http.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SSH "/usr/bin/ssh"
#define CONNECT_MAX_S 10
#define WATCH_MS 100
#define SAID_MAX ((size_t)2048)
#define SAID_SHOWN 200
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

/* ---- names ---- */

/* Letters, digits and some others, and no dash in front, where it would be an option. */
static bool plain(const char *s, const char *others)
{
    if (s[0] == '\0' || s[0] == '-')
        return false;
    for (; *s; s++) {
        if (!isalnum((unsigned char)*s) && !strchr(others, *s))
            return false;
    }
    return true;
}

int relay_check_interface(const char *name, struct err *err)
{
    if (plain(name, "._:-") && strlen(name) < IF_NAMESIZE)
        return 0;
    return err_set(err, -EINVAL, "interface is not the name of one");
}

static bool take_part(char to[RELAY_PART_MAX], const char *from, size_t len)
{
    if (len >= RELAY_PART_MAX)
        return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

/* What follows the host: nothing, or a colon and a port. */
static bool read_port(const char *tail, unsigned *ret)
{
    double port = 0;

    if (tail[0] == '\0')
        return true;
    if (tail[0] != ':' || !isdigit((unsigned char)tail[1]) ||
        strspn(tail + 1, "0123456789") != strlen(tail + 1) || !number_parse(tail + 1, &port) || port < 1 ||
        port > 65535)
        return false;
    *ret = (unsigned)port;
    return true;
}

int relay_parse(const char *text, struct relay *ret, struct err *err)
{
    struct relay relay = {.port = 0};
    const char *at = strrchr(text, '@');
    const char *host = at ? at + 1 : text;
    bool ok = !at || (take_part(relay.user, text, (size_t)(at - text)) && plain(relay.user, "._-"));

    if (host[0] == '[') {
        size_t len = strcspn(host, "]");
        ok = ok && host[len] == ']' && take_part(relay.host, host + 1, len - 1) &&
             plain(relay.host, ".:%-_") && read_port(host + len + 1, &relay.port);
    } else {
        size_t len = strcspn(host, ":");
        ok = ok && take_part(relay.host, host, len) && plain(relay.host, "._-") &&
             read_port(host + len, &relay.port);
    }
    if (!ok)
        return err_set(err, -EINVAL, "relay is not USER@HOST or USER@HOST:PORT");
    *ret = relay;
    return 0;
}

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

/* A process group of its own, with default signals, that inherits no file of the service. */
/* out: -1: nowhere. */
static int spawn(const struct arguments *a, int in, int out, int err_fd, pid_t *ret)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawnattr_init(&how);
    (void)posix_spawnattr_setflags(&how,
                                   POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setsigmask(&how, &none);
    (void)posix_spawnattr_setsigdefault(&how, &all);
    int r = posix_spawn_file_actions_init(&files);
    if (r == 0) {
        r = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
        if (r == 0)
            r = out >= 0 ? posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO)
                         : posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        if (r == 0)
            r = posix_spawn_file_actions_adddup2(&files, err_fd, STDERR_FILENO);
        if (r == 0)
            r = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
        if (r == 0)
            r = posix_spawn(ret, SSH, &files, &how, (char *const *)(uintptr_t)a->list, environ);
        (void)posix_spawn_file_actions_destroy(&files);
    }
    (void)posix_spawnattr_destroy(&how);
    return -r;
}

/* ssh's standard error, the end of it if it is long. */
static void listen_to(int fd, struct strbuf *said)
{
    char piece[512];
    ssize_t n;

    while ((n = read(fd, piece, sizeof piece)) > 0) {
        if (said->len + (size_t)n > SAID_MAX) {
            size_t drop = said->len + (size_t)n - SAID_MAX;
            drop = drop < said->len ? drop : said->len;
            memmove(said->text, said->text + drop, said->len - drop + 1);
            said->len -= drop;
        }
        strbuf_add(said, piece, (size_t)n);
    }
}

/* The command's standard output; what is too much is dropped. */
static void look_at(int fd, struct strbuf *seen)
{
    char piece[4096];
    ssize_t n;

    while (fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0)
        strbuf_add(seen, piece, (size_t)n);
}

/* What ssh and the relay say. */
struct ears {
    int err_fd, out_fd; /* out_fd -1: not listened to */
    struct strbuf said, seen;
};

static void ears_release(struct ears *e)
{
    strbuf_release(&e->said);
    strbuf_release(&e->seen);
}

static void listen_to_both(struct ears *e)
{
    listen_to(e->err_fd, &e->said);
    look_at(e->out_fd, &e->seen);
}

/* Waits until ssh ends, by itself or by the deadline. 0, and its exit status. */
static int watch(pid_t pid, struct ears *ears, const struct relay_errand *e, int *ret_status)
{
    struct pollfd p[2] = {{.fd = ears->err_fd, .events = POLLIN}, {.fd = ears->out_fd, .events = POLLIN}};
    int why = 0;

    for (;;) {
        if (poll(p, 2, WATCH_MS) > 0) {
            listen_to_both(ears);
            for (int i = 0; i < 2; i++) {
                if (p[i].revents & POLLHUP)
                    p[i].fd = -1; /* ssh has closed it, and may live on for a moment */
            }
        }
        pid_t ended = waitpid(pid, ret_status, WNOHANG);
        if (ended == pid) {
            listen_to_both(ears);
            return why;
        }
        if (ended < 0)
            return -errno;
        if (why == 0 && e->stop && atomic_load(e->stop))
            why = -ECANCELED;
        if (why == 0 && net_now_ms() >= e->deadline_ms)
            why = -ETIMEDOUT;
        if (why < 0)
            (void)kill(-pid, SIGKILL);
    }
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

/* The last non-empty line, as part of a sentence. */
static void last_line(struct strbuf *said, char ret[SAID_SHOWN])
{
    size_t end = said->len, len = 0;

    while (end > 0 && (unsigned char)said->text[end - 1] <= ' ')
        end--;
    said->text[end] = '\0';
    const char *line = strrchr(said->text, '\n');
    for (line = line ? line + 1 : said->text; *line && len + 1 < SAID_SHOWN; line++)
        ret[len++] = (unsigned char)*line < ' ' || *line == 0x7f ? ' ' : *line;
    ret[len] = '\0';
}

static int complain(const struct relay_errand *e, int status, struct strbuf *said, struct err *err)
{
    char line[SAID_SHOWN];
    int code = -EIO;

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    for (size_t i = 0; code == -EIO && i < sizeof complaints / sizeof complaints[0]; i++) {
        if (strstr(said->text, complaints[i].words))
            code = complaints[i].code;
    }
    last_line(said, line);
    if (WIFSIGNALED(status))
        return err_set(err, code, "relay %s: ssh was ended by signal %d", e->relay->host, WTERMSIG(status));
    if (WEXITSTATUS(status) == COMMAND_MISSING)
        code = -ENOTSUP;
    return err_set(err, code, "relay %s: %s%s%s", e->relay->host,
                   WEXITSTATUS(status) == SSH_FAILED ? "not reached by ssh" : "it could not send the packet",
                   line[0] ? ": " : "", line);
}

/* in: the command's standard input. ret: its standard output; NULL: not wanted. */
static int converse(const struct relay_errand *e, const struct arguments *a, int in, int said[2], int seen[2],
                    struct strbuf *ret, struct err *err)
{
    CLEANUP(ears_release) struct ears ears = {.err_fd = said[0], .out_fd = seen[0]};
    int status = 0;
    pid_t pid;
    int r = spawn(a, in, seen[1], said[1], &pid);

    if (r == -ENOENT)
        return err_set(err, -ENOTSUP, "ssh is not installed here, and the relay is reached by it");
    if (r < 0)
        return err_set(err, r, "ssh could not be started: %s", strerrordesc_np(-r));
    closep(&said[1]);
    closep(&seen[1]);
    said[1] = seen[1] = -1;
    strbuf_init(&ears.said, 2 * SAID_MAX);
    strbuf_init(&ears.seen, SEEN_MAX);
    r = watch(pid, &ears, e, &status);
    if (r == -ETIMEDOUT)
        return err_set(err, r, "relay %s: ssh was not done in time", e->relay->host);
    if (r < 0)
        return err_set(err, r, "relay %s: given up, because the service stops", e->relay->host);
    r = complain(e, status, &ears.said, err);
    if (r == 0 && ret && !ears.seen.overflow) {
        *ret = ears.seen;
        ears.seen = (struct strbuf){0};
    }
    return r;
}

/* m: NULL: the relay only reports its interfaces and routes. */
static int run(const struct relay_errand *e, const struct magic *m, struct strbuf *ret, struct err *err)
{
    CLEANUP(arguments_release) struct arguments a = {.n = 0};
    int in[2] = {-1, -1}, said[2] = {-1, -1}, seen[2] = {-1, -1};
    int r = 0;

    arguments_init(&a, e, m == NULL);
    /* a packet is smaller than any pipe: it can be written before there is a reader */
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(said, O_CLOEXEC) < 0 || fcntl(said[0], F_SETFL, O_NONBLOCK) < 0 ||
        (ret && (pipe2(seen, O_CLOEXEC) < 0 || fcntl(seen[0], F_SETFL, O_NONBLOCK) < 0)) ||
        (m && write(in[1], m->byte, m->len) != (ssize_t)m->len))
        r = err_set(err, -EIO, "no pipe to ssh: %s", strerrordesc_np(errno));
    closep(&in[1]);
    if (r == 0)
        r = converse(e, &a, in[0], said, seen, ret, err);
    closep(&in[0]);
    for (int i = 0; i < 2; i++) {
        closep(&said[i]);
        closep(&seen[i]);
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
