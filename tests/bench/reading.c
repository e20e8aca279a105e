/* reading: the cost of a snapshot as JSON, by its size: written, read, built, deflated as the store keeps it.
 *
 *     reading HOSTSxVMS...
 *
 * Prints a line for each generated cluster: the size of the text; CPU seconds to write it, to read it into an
 * inventory and to build the snapshot; the size after deflating, with the CPU seconds for that and for the
 * way back; and of a process that loads the file and does nothing else the CPU seconds and the peak of its
 * memory. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "model/generate.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "store/compress.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB 1e6

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* CPU seconds since *mark, which moves on. */
static double lap(double *mark)
{
    double before = *mark;

    *mark = cpu_s();
    return *mark - before;
}

static int make_snapshot(uint32_t hosts, uint32_t vms, struct arena *a, struct snapshot *ret)
{
    const struct generate_options options = {.hosts = hosts, .vms = vms, .seed = 1, .shape = SHAPE_SKEWED};
    struct inventory inv;
    struct err err = {0};
    int r = generate(&options, a, &inv, &err);

    return r < 0 ? r : snapshot_build(&inv, a, ret, &err);
}

static int deflate_and_back(const char *text)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct compressed packed;
    const char *again;
    double mark = cpu_s();

    if (compress_text(text, &packed) < 0)
        return EXIT_FAILURE;
    double to = lap(&mark);
    int r = compress_restore(packed.data, packed.len, packed.text_len, &a, &again);
    double back = lap(&mark);

    (void)printf(" %8.1f %8.2f %8.2f", (double)packed.len / MB, to, back);
    compress_release(&packed);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* In a process of its own: writes the file, and reads it again from memory. */
static int write_and_read(uint32_t hosts, uint32_t vms, const char *path)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf text = {0};
    CLEANUP(fclosep) FILE *f = fopen(path, "we");
    struct snapshot s;
    struct inventory inv;
    struct err err = {0};

    strbuf_init(&text, STRBUF_NO_LIMIT);
    if (!f || make_snapshot(hosts, vms, &a, &s) < 0)
        return EXIT_FAILURE;
    double mark = cpu_s();

    snapshot_dump(&s, &text);
    (void)printf("%7u x %-9u %8.1f %8.2f", hosts, vms, (double)text.len / MB, lap(&mark));
    if (fwrite(text.text, 1, text.len, f) != text.len || fflush(f) != 0)
        return EXIT_FAILURE;
    arena_release(&a);
    mark = cpu_s();
    if (snapshot_read_inventory(text.text, text.len, &a, &inv, NULL, &err) < 0)
        return EXIT_FAILURE;
    double read = lap(&mark);

    if (snapshot_build(&inv, &a, &s, &err) < 0)
        return EXIT_FAILURE;
    (void)printf(" %8.2f %8.2f", read, lap(&mark));
    arena_release(&a);
    return deflate_and_back(text.text);
}

/* In a process of its own, for the peak of its memory. */
static int load(const char *path)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct snapshot s;
    struct err err = {0};
    struct rusage used;

    if (snapshot_load(path, &a, &s, NULL, &err) < 0)
        return EXIT_FAILURE;
    (void)getrusage(RUSAGE_SELF, &used);
    (void)printf(" %8.2f %8.0f\n", cpu_s(), (double)used.ru_maxrss * 1024 / MB);
    return EXIT_SUCCESS;
}

static bool is_done(pid_t child)
{
    int status;

    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool measure(uint32_t hosts, uint32_t vms, const char *path)
{
    (void)fflush(stdout);
    pid_t child = fork();

    if (child == 0)
        exit(write_and_read(hosts, vms, path));
    if (!is_done(child))
        return false;
    child = fork();
    if (child == 0)
        exit(load(path));
    return is_done(child);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"", "10x1000", "100x10000", "1000x100000"};
    char path[] = "/tmp/ballast-reading-XXXXXX";
    int fd = mkstemp(path);
    bool good = fd >= 0;

    if (argc < 2) {
        argv = usual;
        argc = sizeof usual / sizeof *usual;
    }
    (void)printf("%19s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "cluster", "MB", "write s", "read s",
                 "build s", "deflated", "to s", "back s", "load s", "peak MB");
    for (int i = 1; i < argc && good; i++) {
        unsigned hosts, vms;

        good = sscanf(argv[i], "%ux%u", &hosts, &vms) == 2 && measure(hosts, vms, path);
        if (!good)
            (void)fprintf(stderr, "%s: failed\n", argv[i]);
    }
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(path);
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
