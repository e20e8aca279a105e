/* output.c: writes to standard output, standard error and files. */
#include "cli/output.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "render/table.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096

bool cli_colours(void)
{
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

bool cli_can_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool cli_asked(const char *question)
{
    char answer[16];

    (void)fprintf(stderr, "%s? [y/N] ", question);
    (void)fflush(stderr);
    return fgets(answer, sizeof answer, stdin) &&
           (strcasecmp(answer, "y\n") == 0 || strcasecmp(answer, "yes\n") == 0);
}

static atomic_bool stopped;

static void stop(int signal)
{
    (void)signal;
    atomic_store(&stopped, true);
}

static void handle(void (*handler)(int))
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    const struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART: reading ends */

    for (size_t i = 0; i < COUNT_OF(ends); i++)
        (void)sigaction(ends[i], &action, NULL);
    (void)signal(SIGTSTP, handler == SIG_DFL ? SIG_DFL : SIG_IGN); /* the shell would show a password */
}

const atomic_bool *cli_hold_signals(void)
{
    handle(stop);
    return &stopped;
}

void cli_release_signals(void)
{
    handle(SIG_DFL);
}

bool cli_answer(const char *prompt, bool hidden, char ret[CLI_ANSWER_MAX])
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    struct termios shown = {0};
    const bool dark = hidden && tcgetattr(STDIN_FILENO, &shown) == 0;
    struct termios no_echo = shown;

    no_echo.c_lflag &= ~(tcflag_t)ECHO;
    table_put_text(&text, prompt);
    (void)fprintf(stderr, "%s%s", text.len > 0 ? text.text : "", text.len > 0 ? ": " : "");
    (void)fflush(stderr);
    if (dark)
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &no_echo);
    const bool any = !atomic_load(&stopped) && fgets(ret, CLI_ANSWER_MAX, stdin);

    if (dark)
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    if (!any || dark || !isatty(STDIN_FILENO))
        (void)fputc('\n', stderr);
    ret[any ? strcspn(ret, "\n") : 0] = '\0';
    return any;
}

void cli_put_none(const struct args *args, const char *what, const char *yet, struct strbuf *out)
{
    bool any = false;

    for (size_t i = 0; i < args->verb->n_options; i++) {
        const struct option_spec *o = &args->verb->options[i];
        const char *value = args_value(args, i, NULL);

        if (!value || !o->metavar || strcmp(o->name, "socket") == 0 || strcmp(o->name, "format") == 0)
            continue;
        if (!any)
            strbuf_printf(out, "no %s matches", what);
        any = true;
        strbuf_printf(out, " --%s ", o->name);
        table_put_text(out, value);
    }
    strbuf_printf(out, "%s\n", any ? "" : yet);
}

void cli_put_more(const struct args *args, long long n, const char *what, const char *hints,
                  struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;

    if (n > 0)
        strbuf_printf(&text, "%lld %s%s not shown (%s)", n, what, n == 1 ? " is" : "s are", hints);
    if (n > 0 && args->json)
        cli_error("%s", text.text);
    else if (n > 0)
        strbuf_printf(out, "%s\n", text.text);
}

static void put_error(const char *format, va_list ap)
{
    CLEANUP(strbuf_releasep) struct strbuf line = STRBUF_EMPTY;
    char text[LINE_MAX_BYTES];

    (void)vsnprintf(text, sizeof text, format, ap);
    table_put_text(&line, text);
    (void)fprintf(stderr, "%s%s\n", strncmp(text, "--", 2) == 0 ? "ballast: " : "", line.text);
}

void cli_error(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    put_error(format, ap);
    va_end(ap);
}

enum exit_code cli_fail(enum exit_code code, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    put_error(format, ap);
    va_end(ap);
    return code;
}

static enum exit_code write_plain(const struct strbuf *out)
{
    errno = 0;
    if (fwrite(out->text, 1, out->len, stdout) == out->len && fflush(stdout) == 0)
        return EXIT_DONE;
    cli_error("standard output: %s", strerror(errno ? errno : EIO));
    return EXIT_FAILED;
}

/* Names with controls must not command the terminal, whatever verb shows them; colours are ours. */
static void put_shown(struct strbuf *shown, const struct strbuf *out)
{
    const char *const kept = cli_colours() ? "\n\r\t\033" : "\n\r\t";
    size_t n;

    for (const char *s = out->text, *end = s + out->len; s < end; s += n) {
        bool safe;

        n = utf8_step((const unsigned char *)s, &safe);
        strbuf_add(shown, safe || (*s && strchr(kept, *s)) ? s : "?", safe ? n : 1);
    }
}

enum exit_code cli_write(const struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf shown = STRBUF_EMPTY;

    put_shown(&shown, out);
    return write_plain(&shown);
}

static int write_all(int fd, const struct strbuf *text)
{
    for (size_t done = 0; done < text->len;) {
        ssize_t n = write(fd, text->text + done, text->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        done += (size_t)n;
    }
    return 0;
}

/* Writes to a file that is not replaced: /dev/stdout, a named pipe. */
static int write_through(const char *path, const struct strbuf *text)
{
    CLEANUP(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd < 0 ? -errno : write_all(fd, text);
}

/* mkstemp() makes a file for its owner only; a new file takes the umask's mode, an existing one keeps its
 * mode. */
static mode_t mode_for(const struct stat *old)
{
    mode_t mask = umask(0);

    (void)umask(mask);
    return old ? old->st_mode & 07777 : 0666 & ~mask;
}

/* In the same folder, so on the same file system. */
static int write_beside(const char *path, mode_t mode, const struct strbuf *text)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};
    char *beside = arena_printf(&scratch, "%s.XXXXXX", path);
    CLEANUP(closep) int fd = mkostemp(beside, O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int r = write_all(fd, text);
    if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0 || rename(beside, path) < 0))
        r = -errno;
    if (r < 0)
        (void)unlink(beside);
    return r;
}

enum exit_code cli_write_file(const char *path, const struct strbuf *text)
{
    struct stat old;
    int r;

    if (strcmp(path, "-") == 0)
        return write_plain(text);
    bool there = stat(path, &old) == 0;
    CLEANUP(freep)
    char *resolved = there ? realpath(path, NULL) : NULL; /* the target of a link is replaced */
    if (there && !S_ISREG(old.st_mode))
        r = S_ISDIR(old.st_mode) ? -EISDIR : write_through(path, text);
    else
        r = write_beside(resolved ? resolved : path, mode_for(there ? &old : NULL), text);
    if (r == 0)
        return EXIT_DONE;
    cli_error("%s: cannot be written: %s", path, strerror(-r));
    return EXIT_FAILED;
}
