/* recognise.c: whether the store is the one that was open here last, or a copy or an older state of it.
 *
 * Two notes in the database tell: the file that it is in, by the time at which that file was created, which
 * no copy has and which neither a reboot nor another device number changes; and how many transactions it has
 * seen. The latter is also in the lock's file, written after each of them: a database with fewer has lost
 * some. A whole file system or machine that is put back to an earlier state looks like one that never went
 * on. */
#include "store/internal.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "store/events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WITNESS "%ld\n%s %019" PRId64 "\n" /* process, instance, writes; always of the same length */

void store_write_witness(const struct store *s)
{
    char text[64];
    int n = snprintf(text, sizeof text, WITNESS, (long)getpid(), s->name, s->writes);

    if (s->lock_fd >= 0 && pwrite(s->lock_fd, text, (size_t)n, 0) == n)
        (void)!ftruncate(s->lock_fd, n);
}

/* "": the file system does not tell. */
static void identify_file(const char *path, char *ret, size_t size)
{
    struct statx st;

    ret[0] = '\0';
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) == 0 && (st.stx_mask & STATX_BTIME))
        (void)snprintf(ret, size, "%lld.%09u", (long long)st.stx_btime.tv_sec, st.stx_btime.tv_nsec);
}

static int put_note(struct store *s, const char *key, const char *value, struct err *err)
{
    return store_sqlite.put(s, &(struct record){RECORD_NOTE, .note = &(struct note){key, value}}, err);
}

/* What the service cannot know, as a note for the engine. */
static int put_doubt(struct store *s, struct arena *a, struct err *err)
{
    char since[RFC3339_MAX];
    instant_s newest = 0;
    int r = store_newest(s, &newest, err);

    if (r < 0)
        return r;
    return put_note(
        s, NOTE_RESTORED,
        arena_printf(a,
                     "the store is a copy, or older than the one before it. What happened after its newest "
                     "record (%s) is not known: actions that began or ended, approvals, rejections and "
                     "pauses, and tokens that were revoked, which are valid again. Nothing is started until "
                     "`ballast resume`",
                     newest > 0 ? rfc3339_format(newest, since) : "it has none"),
        err);
}

int store_recognise(struct store *s, const char *former, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *name = NULL, *file = NULL, *writes = NULL;
    char other[sizeof s->name] = "", is[48];
    int64_t seen = 0;
    int r;

    if ((r = store_instance(s, &a, &name, err)) < 0 ||
        (r = store_get_note(s, NOTE_FILE, &a, &file, err)) < 0 ||
        (r = store_get_note(s, NOTE_WRITES, &a, &writes, err)) < 0)
        return r;
    identify_file(s->path, is, sizeof is);
    (void)snprintf(s->name, sizeof s->name, "%s", name);
    s->writes = writes ? strtoll(writes, NULL, 10) : 0;
    const bool known = sscanf(former, "%*d %23s %" SCNd64, other, &seen) == 2; /* not of an older version */
    const bool doubted = (file && strcmp(file, is) != 0) || (known && strcmp(other, s->name) != 0) ||
                         (known && s->writes < seen);

    store_watch_files(s);
    if ((r = store_begin(s, err)) < 0)
        return r;
    if ((doubted && (r = put_doubt(s, &a, err)) < 0) || (r = put_note(s, NOTE_FILE, is, err)) < 0) {
        store_sqlite.rollback(s);
        return r;
    }
    return store_commit(s, err);
}
