/* known_peers.c: stores who the peers of the source are, and takes a name on this machine made of it. */
#include "daemon/known_peers.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/source_lock.h"
#include "store/events.h"
#include "store/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTE_PEERS "peers" /* the name of the source, a line feed, and what is known */

int known_peers_open(struct known_peers *k, struct store *store, const char *source_name, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *note = NULL;
    const size_t len = strlen(source_name);
    int r = store_get_note(store, NOTE_PEERS, &a, &note, err);

    if (r < 0)
        return r;
    const bool same = note && strncmp(note, source_name, len) == 0 && note[len] == '\n';

    *k = (struct known_peers){.identities = peer_identities_new(same ? note + len + 1 : NULL),
                              .store = store,
                              .source_name = source_name,
                              .lock_fd = -1};
    return 0;
}

void known_peers_close(struct known_peers *k)
{
    peer_identities_free(k->identities);
    if (k->identities && k->lock_fd >= 0)
        (void)close(k->lock_fd);
}

static int keep(const struct known_peers *k, struct err *err)
{
    CLEANUP(freep) char *text = peer_identities_write(k->identities);
    CLEANUP(freep) char *value = NULL;

    if (!text)
        return 0;
    if (asprintf(&value, "%s\n%s", k->source_name, text) < 0)
        abort();
    const struct record note = {RECORD_NOTE, .note = &(struct note){NOTE_PEERS, value}};

    return store_sqlite.put(k->store, &note, err);
}

static void lock_cluster(struct known_peers *k, struct engine *e, instant_s now)
{
    struct err err = {0};
    char name[KNOWN_PEERS_NAME_MAX];

    peer_identities_name(k->identities, name, sizeof name);
    if (strcmp(name, k->locked) == 0)
        return;
    if (k->lock_fd >= 0)
        (void)close(k->lock_fd);
    k->lock_fd = -1;
    int r = name[0] ? source_lock(name, &k->lock_fd, &err) : 0;

    (void)snprintf(k->locked, sizeof k->locked, "%s", r < 0 ? "" : name);
    engine_hold_back(e, r == -EBUSY ? err.text : NULL, now);
}

void known_peers_update(struct known_peers *k, struct engine *e, instant_s now)
{
    struct err err = {0};

    if (keep(k, &err) < 0)
        log_warning("who the peers of the source are could not be stored: %s", err.text);
    lock_cluster(k, e, now);
}

int known_peers_confirm(struct known_peers *k, struct engine *e, const char *by, instant_s now,
                        struct err *err)
{
    char text[200];
    const bool other_peers = peer_identities_forget(k->identities);
    const bool other_service = engine_confirm_alone(e);

    if (!other_peers && !other_service)
        return err_set(err, -EINVAL, "source waits for no confirmation: it is the one that it was");
    (void)snprintf(text, sizeof text, "%.60s confirmed that %s%s%s", by,
                   other_peers ? "the source is the right one, as it answers now" : "",
                   other_peers && other_service ? ", and that " : "",
                   other_service ? "no other service moves the VMs of this cluster" : "");
    engine_tell_change(e, text, by, now);
    (void)engine_run(e, now, &(uint64_t){0}, NULL);
    return keep(k, err);
}
