/* replay.c: runs a fuzz target on a folder of inputs, without a fuzzer.
 *
 * fuzz-NAME FILE… calls the target with each file, then with variations of it: truncated at every
 * place where that is cheap, and with a few bytes changed by a fixed seed; then with one long line, and with
 * brackets that never close. Each input is in memory of its exact size, so that the address sanitizer detects
 * a read of one byte too many.
 *
 * A crash of the target is the failure. The name of each file is printed before the call, so that the last
 * line names the file of the crash. */
#include "base/rng.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

enum {
    FILE_SIZE_MAX = 4 << 20, /* larger inputs are skipped, and said so */
    CUTS = 64,               /* prefixes of a file that are tried */
    VARIATIONS = 200,        /* of a file */
    VARIED_SIZE_MAX = 65536, /* larger files are replayed, but not varied */
    CHANGES_MAX = 4,         /* bytes changed in one variation */
    REPEATED_SIZE = 100000,  /* of a piece that is repeated */
};

struct input {
    uint8_t *data;
    size_t size;
};

static void run_once(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);

    if (!exact)
        abort();
    if (size)
        memcpy(exact, data, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void run_cuts(const struct input *in)
{
    size_t step = in->size / CUTS + 1;

    for (size_t size = 0; size < in->size; size += step)
        run_once(in->data, size);
}

static void run_variations(const struct input *in, struct rng *rng)
{
    uint8_t *copy = malloc(in->size);

    if (!copy)
        abort();
    for (int i = 0; i < VARIATIONS; i++) {
        memcpy(copy, in->data, in->size);
        uint32_t changes = 1 + rng_below(rng, CHANGES_MAX);
        for (uint32_t k = 0; k < changes; k++)
            copy[rng_below(rng, (uint32_t)in->size)] = (uint8_t)rng_next(rng);
        run_once(copy, in->size);
    }
    free(copy);
}

static int read_file(const char *path, struct input *ret)
{
    FILE *f = fopen(path, "rb");

    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -errno;
    }
    uint8_t *data = malloc(FILE_SIZE_MAX + 1);
    if (!data)
        abort();
    size_t size = fread(data, 1, FILE_SIZE_MAX + 1, f);
    (void)fclose(f);
    if (size > FILE_SIZE_MAX) {
        fprintf(stderr, "%s: larger than %d bytes, skipped\n", path, FILE_SIZE_MAX);
        size = 0;
    }
    *ret = (struct input){.data = data, .size = size};
    return 0;
}

static int run_file(const char *path)
{
    struct input in = {0};
    struct rng rng = {.state = 1};

    printf("%s\n", path);
    int r = read_file(path, &in);
    if (r < 0)
        return r;
    run_once(in.data, in.size);
    if (in.size > 0 && in.size <= VARIED_SIZE_MAX && !getenv("BALLAST_TEST_PLAIN")) {
        run_cuts(&in);
        run_variations(&in, &rng);
    }
    free(in.data);
    return 0;
}

/* The same piece over and over: one long line, and what is nested too deep. */
static void run_repeated(const char *piece)
{
    size_t length = strlen(piece), size = REPEATED_SIZE / length * length;
    uint8_t *data = malloc(size);

    if (!data)
        abort();
    for (size_t at = 0; at < size; at += length)
        memcpy(data + at, piece, length);
    run_once(data, size);
    free(data);
}

int main(int argc, char **argv)
{
    static const char *const pieces[] = {"a", "[", "{\"a\":", "<a>", "- "};
    int r = 0;

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (LLVMFuzzerInitialize)
        (void)LLVMFuzzerInitialize(&argc, &argv);
    run_once((const uint8_t *)"", 0);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        printf("\"%s\" again and again\n", pieces[i]);
        run_repeated(pieces[i]);
    }
    for (int i = 1; i < argc; i++) {
        if (run_file(argv[i]) < 0)
            r = -EIO;
    }
    printf("%d inputs replayed\n", argc - 1);
    return r < 0 ? 1 : 0;
}
