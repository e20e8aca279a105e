/* admin_tokens.c: makes, lists and revokes tokens. Checking one is http/token.c's. */
#include "daemon/clients/admin_tokens.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "daemon/process.h"
#include "daemon/replies/reply.h"
#include "store/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STORE_USE_S 60

_Static_assert(TOKEN_RECORD_HASH_BYTES == TOKEN_HASH_BYTES, "the same hash");

int admin_tokens_load(struct admin_tokens *t, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct token_record *records = NULL;
    size_t n = 0;
    int r = store_list_tokens(t->store, &a, &records, &n, err);

    if (r < 0)
        return r;
    struct token *list = arena_array(&a, struct token, n + 1);

    for (size_t i = 0; i < n; i++) {
        (void)snprintf(list[i].name, sizeof list[i].name, "%s", records[i].name);
        if (records[i].owner && process_person_is_good(records[i].owner))
            (void)snprintf(list[i].owner, sizeof list[i].owner, "%s", records[i].owner);
        memcpy(list[i].hash, records[i].hash, sizeof list[i].hash);
        list[i].role = records[i].role;
        list[i].expires = records[i].expires;
        list[i].used = records[i].used;
    }
    http_set_tokens(t->http, list, n);
    return 0;
}

void admin_tokens_store_use(struct admin_tokens *t, instant_s now, bool at_once)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct token_record *records = NULL;
    struct err err = {0};
    size_t n = 0;

    if (!t->http || (!at_once && now < t->stored + STORE_USE_S))
        return;
    t->stored = now;
    int r = store_list_tokens(t->store, &a, &records, &n, &err);

    for (size_t i = 0; i < n && r == 0; i++) {
        const instant_s used = http_token_used(t->http, records[i].name);

        if (used > records[i].used)
            r = store_set_token_used(t->store, records[i].name, used, &err);
    }
    if (r < 0)
        log_warning("%s", err.text);
}

int admin_tokens_list(struct admin_tokens *t, instant_s now, struct strbuf *out, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct token_record *list = NULL;
    struct json_writer w = {.out = out};
    size_t n = 0;

    admin_tokens_store_use(t, now, true);
    int r = store_list_tokens(t->store, &a, &list, &n, err);

    if (r < 0)
        return r;
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_begin(&w, "tokens", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++) {
        jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(&w, "name", list[i].name);
        jw_text(&w, "role", role_name(list[i].role));
        jw_text(&w, "owner", list[i].owner);
        jw_instant(&w, "created", list[i].created);
        jw_text(&w, "created_by", list[i].created_by);
        jw_instant(&w, "expires", list[i].expires);
        jw_instant(&w, "used", list[i].used);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    return 0;
}

int admin_tokens_create(struct admin_tokens *t, const struct request *q, const char *by, instant_s now,
                        struct strbuf *out, struct err *err)
{
    struct token_record record = {
        .name = q->name, .role = q->role, .created = now, .created_by = by, .expires = q->expires};
    char token[TOKEN_TEXT_SIZE], owner[PERSON_NAME_MAX];
    struct json_writer w = {.out = out};
    int r;

    if (!token_name_is_good(q->name))
        return err_set(err, -EINVAL, "\"name\": expected 1 to %d letters, digits and characters of \"-_.\"",
                       TOKEN_NAME_MAX - 1);
    if (q->owner[0]) {
        if (!process_person_is_good(q->owner))
            return err_set(err, -EINVAL,
                           "\"owner\": expected 1 to %d letters, digits and characters of \"-_.@+\\\"",
                           PERSON_NAME_MAX - 1);
        process_find_person(q->owner, owner);
        record.owner = owner;
    }
    if (q->expires != 0 && q->expires <= now)
        return err_set(err, -EINVAL, "\"expires\": expected a time in the future");
    if ((r = token_make(token, record.hash)) < 0)
        return err_set(err, r, "no random numbers for a token: %s", strerror(-r));
    if ((r = store_put_token(t->store, &record, err)) < 0 || (r = admin_tokens_load(t, err)) < 0)
        return r;
    log_notice("the token \"%s\" with the role %s%s%s was made by %s", q->name, role_name(q->role),
               record.owner ? ", owned by " : "", record.owner ? record.owner : "", by);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_text(&w, "name", q->name);
    jw_text(&w, "role", role_name(q->role));
    jw_text(&w, "owner", record.owner);
    jw_instant(&w, "expires", q->expires);
    jw_text(&w, "token", token);
    jw_end(&w);
    explicit_bzero(token, sizeof token);
    return 0;
}

int admin_tokens_revoke(struct admin_tokens *t, const char *name, const char *by, struct strbuf *out,
                        struct err *err)
{
    int r = store_delete_token(t->store, name, err);

    if (r < 0 || (r = admin_tokens_load(t, err)) < 0)
        return r;
    log_notice("the token \"%s\" was revoked by %s", name, by);
    return reply_done(0, out);
}
