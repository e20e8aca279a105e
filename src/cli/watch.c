/* watch.c: draws a verb's output on the terminal's alternate screen, again and again. */
#include "cli/watch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define EVERY_MS 2000
#define LATE_MS 6000
#define ROWS_FALLBACK 24
#define COLUMNS_FALLBACK 80
#define FOOT_ROWS 1
#define KEYS_MAX 64
#define ERROR_BYTES_MAX 4096

/* Sequences of ECMA-48 and xterm that every terminal of today has. */
#define SCREEN_ENTER "\033[?1049h\033[?25l" /* the alternate screen, no cursor */
#define SCREEN_LEAVE "\033[?25h\033[?1049l"
#define SCREEN_HOME "\033[H"
#define LINE_REST "\033[K"
#define SCREEN_REST "\033[J"
#define PLAIN "\033[0m"
#define REVERSE "\033[7m"

struct screen {
    struct termios before; /* of standard input, if it is a terminal */
    bool keys;             /* standard input is one */
    int signals;           /* signalfd */
    sigset_t mask;
    size_t rows, columns; /* for text */
    size_t top;           /* lines of text above the first one shown */
    size_t lines;         /* of text */
};

/* Keys that scroll, by the sequences of ECMA-48, xterm and the Linux console. */
static const struct {
    const char *sequence;
    int lines, pages;
} scrolls[] = {
    {"\033[A", -1, 0},       {"\033OA", -1, 0},       {"\033[B", 1, 0},       {"\033OB", 1, 0},
    {"\033[5~", 0, -1},      {"\033[6~", 0, 1},       {"\033[H", 0, INT_MIN}, {"\033OH", 0, INT_MIN},
    {"\033[1~", 0, INT_MIN}, {"\033[7~", 0, INT_MIN}, {"\033[F", 0, INT_MAX}, {"\033OF", 0, INT_MAX},
    {"\033[4~", 0, INT_MAX}, {"\033[8~", 0, INT_MAX},
};

static void screen_measure(struct screen *s)
{
    struct winsize w = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > FOOT_ROWS && w.ws_col > 0;

    s->rows = (known ? w.ws_row : (size_t)ROWS_FALLBACK) - FOOT_ROWS;
    s->columns = known ? w.ws_col : (size_t)COLUMNS_FALLBACK;
}

static void screen_scroll(struct screen *s, int lines, int pages)
{
    const long long page = s->rows > 1 ? (long long)s->rows - 1 : 1; /* a line of the former page stays */
    const long long most = s->lines > s->rows ? (long long)(s->lines - s->rows) : 0;
    const long long to = (long long)s->top + lines + pages * page;

    s->top = (size_t)(to < 0 ? 0 : to > most ? most : to);
}

/* false: one of the keys ends the watch. */
static bool screen_take_keys(struct screen *s, const char *keys, size_t n)
{
    for (size_t i = 0, len = 1; i < n; i += len) {
        len = keys[i] == '\033' ? n - i : 1; /* the rest of a sequence that is not known is no key */
        if (keys[i] == 'q' || keys[i] == 'Q')
            return false;
        for (size_t k = 0; k < COUNT_OF(scrolls); k++) {
            size_t of = strlen(scrolls[k].sequence);

            if (n - i < of || strncmp(keys + i, scrolls[k].sequence, of) != 0)
                continue;
            screen_scroll(s, scrolls[k].lines, scrolls[k].pages);
            len = of;
        }
    }
    return true;
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static void say(const char *text)
{
    (void)fputs(text, stdout);
    (void)fflush(stdout);
}

/* Keys come one by one and are not shown; Ctrl-C and Ctrl-Z still make signals. */
static void screen_enter(struct screen *s)
{
    struct termios raw = s->before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    if (s->keys)
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    say(SCREEN_ENTER);
}

static void screen_leave(const struct screen *s)
{
    say(SCREEN_LEAVE);
    if (s->keys)
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &s->before);
}

static int screen_begin(struct screen *s)
{
    *s = (struct screen){.keys = isatty(STDIN_FILENO)};
    if (s->keys && tcgetattr(STDIN_FILENO, &s->before) < 0)
        s->keys = false;
    (void)sigemptyset(&s->mask);
    (void)sigaddset(&s->mask, SIGINT);
    (void)sigaddset(&s->mask, SIGTERM);
    (void)sigaddset(&s->mask, SIGHUP);
    (void)sigaddset(&s->mask, SIGQUIT);
    (void)sigaddset(&s->mask, SIGTSTP);
    (void)sigaddset(&s->mask, SIGWINCH);
    (void)sigprocmask(SIG_BLOCK, &s->mask, NULL);
    s->signals = signalfd(-1, &s->mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signals < 0)
        return -errno;
    screen_enter(s);
    return 0;
}

/* Ctrl-Z: the shell gets its screen back until `fg`. */
static void screen_stop(struct screen *s)
{
    screen_leave(s);
    (void)raise(SIGSTOP);
    screen_enter(s);
}

enum waited { WAITED_TIME, WAITED_CHILD, WAITED_DRAW, WAITED_END };

/* Until the child ends (pidfd; -1: none), the time is over (-1: never), the screen is to be drawn anew, or
 * the user wants to end it. */
static enum waited screen_wait(struct screen *s, int child, int timeout_ms)
{
    struct pollfd fds[] = {
        {s->signals, POLLIN, 0}, {s->keys ? STDIN_FILENO : -1, POLLIN, 0}, {child, POLLIN, 0}};
    struct signalfd_siginfo signal;
    char keys[KEYS_MAX];

    if (poll(fds, sizeof fds / sizeof *fds, timeout_ms) <= 0)
        return timeout_ms < 0 ? WAITED_DRAW : WAITED_TIME;
    if (fds[1].revents) {
        ssize_t n = read(STDIN_FILENO, keys, sizeof keys);

        /* 0 or less: the terminal is gone */
        return n > 0 && screen_take_keys(s, keys, (size_t)n) ? WAITED_DRAW : WAITED_END;
    }
    if (fds[2].revents)
        return WAITED_CHILD;
    if (read(s->signals, &signal, sizeof signal) != sizeof signal)
        return WAITED_DRAW;
    if (signal.ssi_signo == SIGTSTP)
        screen_stop(s);
    return signal.ssi_signo == SIGTSTP || signal.ssi_signo == SIGWINCH ? WAITED_DRAW : WAITED_END;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* The line's first `columns` characters; sequences of colours take none. */
static void put_clipped(struct strbuf *out, const char *line, size_t len, size_t columns)
{
    size_t at = 0, i = 0;

    while (i < len) {
        size_t n = 1;

        if (line[i] == '\033') {
            n = strcspn(line + i, "m") + 1;
            n = i + n > len ? len - i : n;
        } else {
            while (i + n < len && ((unsigned char)line[i + n] & 0xc0) == 0x80)
                n++;
            if (++at > columns)
                break;
        }
        strbuf_add(out, line + i, n);
        i += n;
    }
    strbuf_puts(out, PLAIN LINE_REST "\n");
}

/* The lines but for the first `above`, as many as there are rows; returns how many there are in all. */
static size_t put_lines(struct strbuf *out, const char *text, size_t above, size_t rows, size_t columns)
{
    size_t n = 0;

    for (; text && *text; n++) {
        size_t len = strcspn(text, "\n");

        if (n >= above && n - above < rows)
            put_clipped(out, text, len, columns);
        text += len + (text[len] == '\n');
    }
    return n;
}

/* "12 more below, 3 above; " */
static const char *not_shown(const struct screen *s, struct arena *a)
{
    size_t below = s->lines > s->top + s->rows ? s->lines - s->top - s->rows : 0;
    const char *text = below > 0 ? arena_printf(a, "%zu more below", below) : "";

    if (s->top > 0)
        text =
            arena_printf(a, "%s%s%zu %sabove", text, below > 0 ? ", " : "", s->top, below > 0 ? "" : "more ");
    return *text ? arena_printf(a, "%s; ", text) : "";
}

/* The last of what the watch shows. */
struct shown {
    struct strbuf text;
    time_t read; /* when the text was */
    char error[ERROR_BYTES_MAX];
};

static void draw(struct screen *s, const char *verb, const struct shown *shown)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    CLEANUP(arena_releasep) struct arena a = {0};
    const bool late = (time(NULL) - shown->read) * 1000 > LATE_MS;
    struct tm tm;
    char clock[16] = "nothing yet";

    screen_measure(s);
    strbuf_puts(&out, SCREEN_HOME);
    size_t errors = put_lines(&out, shown->error, 0, s->rows, s->columns);

    s->rows -= errors < s->rows ? errors : s->rows;
    s->lines = put_lines(NULL, shown->text.text, SIZE_MAX, 0, 0);
    screen_scroll(s, 0, 0); /* the text may have become shorter, or the terminal higher */
    (void)put_lines(&out, shown->text.text, s->top, s->rows, s->columns);
    for (size_t i = s->lines; i < s->rows; i++)
        strbuf_puts(&out, LINE_REST "\n");
    if (shown->read != 0 && localtime_r(&shown->read, &tm))
        (void)strftime(clock, sizeof clock, "%H:%M:%S", &tm);
    strbuf_puts(&out, REVERSE);
    const char *foot = arena_printf(&a, "%sballast %s, %s, every %d s%s; q ends", not_shown(s, &a), verb,
                                    clock, EVERY_MS / 1000, shown->error[0] || late ? ", NOT CURRENT" : "");
    strbuf_printf(&out, "%.*s" PLAIN LINE_REST SCREEN_REST, (int)s->columns, foot);
    say(out.text);
}

/* ---- the verb -------------------------------------------------------------------------------- */

/* The verb runs in a process of its own, so that a service that does not answer keeps no key waiting. */
struct attempt {
    pid_t pid;
    int pidfd, out, error; /* files in memory */
};

static void run_in_child(const struct verb *v, const struct args *args, const struct attempt *t,
                         const struct screen *s)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    CLEANUP(arena_releasep) struct arena a = {0};

    (void)sigprocmask(SIG_UNBLOCK, &s->mask, NULL);
    (void)dup2(t->error, STDERR_FILENO);
    enum exit_code code = v->run(args, &a, &out);

    for (size_t done = 0; code == EXIT_DONE && done < out.len;) {
        ssize_t n = write(t->out, out.text + done, out.len - done);

        if (n < 0)
            code = EXIT_FAILED;
        else
            done += (size_t)n;
    }
    _exit((int)code);
}

static int attempt_begin(const struct verb *v, const struct args *args, const struct screen *s,
                         struct attempt *ret)
{
    *ret = (struct attempt){.pid = -1, .pidfd = -1};
    ret->out = memfd_create("output", MFD_CLOEXEC);
    ret->error = memfd_create("errors", MFD_CLOEXEC);
    if (ret->out >= 0 && ret->error >= 0)
        ret->pid = fork();
    if (ret->pid == 0)
        run_in_child(v, args, ret, s);
    if (ret->pid > 0)
        ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
    return ret->pidfd >= 0 ? 0 : -errno;
}

static void attempt_release(struct attempt *t)
{
    if (t->pid > 0) {
        (void)kill(t->pid, SIGKILL);
        (void)waitpid(t->pid, NULL, 0);
    }
    closep(&t->pidfd);
    closep(&t->out);
    closep(&t->error);
}

static void read_output(int fd, struct strbuf *ret)
{
    char chunk[4096];
    off_t at = 0;
    ssize_t n;

    strbuf_clear(ret);
    for (; (n = pread(fd, chunk, sizeof chunk, at)) > 0; at += n)
        strbuf_add(ret, chunk, (size_t)n);
}

/* After the child's end: keeps its output, or its error and the former output. */
static enum exit_code attempt_take(struct attempt *t, struct shown *ret)
{
    int status = 0;
    ssize_t n = pread(t->error, ret->error, sizeof ret->error - 1, 0);

    ret->error[n > 0 ? n : 0] = '\0';
    (void)waitpid(t->pid, &status, 0);
    t->pid = -1;
    enum exit_code code = WIFEXITED(status) ? (enum exit_code)WEXITSTATUS(status) : EXIT_FAILED;

    if (code == EXIT_DONE) {
        read_output(t->out, &ret->text);
        ret->read = time(NULL);
    }
    return code;
}

/* One run of the verb, drawn. false: the watch ends, with *ret_code. */
static bool show_once(const struct verb *v, const struct args *args, struct screen *s, struct shown *shown,
                      enum exit_code *ret_code)
{
    struct attempt t;
    enum waited waited = WAITED_END;

    *ret_code = EXIT_DONE;
    if (attempt_begin(v, args, s, &t) < 0) {
        (void)snprintf(shown->error, sizeof shown->error, "ballast %s: %s\n", v->name, strerror(errno));
        *ret_code = EXIT_FAILED;
    } else {
        while ((waited = screen_wait(s, t.pidfd, EVERY_MS)) == WAITED_DRAW || waited == WAITED_TIME)
            draw(s, v->name, shown);
        if (waited == WAITED_CHILD)
            *ret_code = attempt_take(&t, shown);
    }
    attempt_release(&t);
    if (waited == WAITED_END || *ret_code == EXIT_WRONG)
        return false;
    if (*ret_code == EXIT_DONE)
        shown->error[0] = '\0';
    return true;
}

enum exit_code watch_run(const struct verb *v, const struct args *args)
{
    CLEANUP(freep) struct shown *shown = xcalloc(1, sizeof *shown);
    enum exit_code code;
    enum waited waited;
    struct screen s;

    if (!isatty(STDOUT_FILENO))
        return cli_fail(EXIT_WRONG, "ballast %s: --watch needs a terminal", v->name);
    if (screen_begin(&s) < 0)
        return cli_fail(EXIT_FAILED, "ballast %s: --watch: %s", v->name, strerror(errno));
    strbuf_init(&shown->text, STRBUF_NO_LIMIT);
    while (show_once(v, args, &s, shown, &code)) {
        const int64_t next = clock_us(CLOCK_MONOTONIC) / 1000 + EVERY_MS;

        do {
            const int64_t left = next - clock_us(CLOCK_MONOTONIC) / 1000;

            draw(&s, v->name, shown);
            waited = screen_wait(&s, -1, left > 0 ? (int)left : 0);
        } while (waited == WAITED_DRAW);
        if (waited == WAITED_END)
            break;
    }
    screen_leave(&s);
    (void)close(s.signals);
    if (code == EXIT_WRONG || code == EXIT_FAILED)
        (void)fputs(shown->error, stderr);
    strbuf_release(&shown->text);
    return code == EXIT_WRONG || code == EXIT_FAILED ? code : EXIT_DONE;
}
