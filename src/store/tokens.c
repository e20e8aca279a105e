/* tokens.c: stores and lists the tokens of the API over HTTP. Making and checking them is http/token.c's. */
#include "store/tokens.h"

#include "base/cleanup.h"
#include "store/internal.h"

#include <errno.h>
#include <string.h>

/* A transaction of its own: the next start notices when it is missing. The statement has some of the names.
 */
static int change(struct store *s, const char *sql, const struct token_record *t, const char *doing,
                  struct err *err)
{
    sqlite3_stmt *st = NULL;
    int rc = SQLITE_ERROR;
    int r = store_begin(s, err);

    if (r < 0)
        return r;
    if (store_prepare_one(s, sql, &st, doing, err) == 0 &&
        store_bind_text(st, ":name", t->name) == SQLITE_OK &&
        store_bind_text(st, ":role", role_name(t->role)) == SQLITE_OK &&
        store_bind_number(st, ":created", t->created) == SQLITE_OK &&
        store_bind_text(st, ":created_by", t->created_by) == SQLITE_OK &&
        store_bind_number(st, ":expires", t->expires) == SQLITE_OK &&
        store_bind_number(st, ":used", t->used) == SQLITE_OK &&
        store_bind_text(st, ":owner", t->owner) == SQLITE_OK &&
        (sqlite3_bind_parameter_index(st, ":hash") == 0 ||
         sqlite3_bind_blob(st, sqlite3_bind_parameter_index(st, ":hash"), t->hash, sizeof t->hash,
                           SQLITE_STATIC) == SQLITE_OK))
        rc = sqlite3_step(st);
    (void)sqlite3_finalize(st);
    if (rc == SQLITE_CONSTRAINT)
        r = err_set(err, -EEXIST, "there is a token \"%s\" already", t->name);
    else if (rc != SQLITE_DONE)
        r = store_failed(s, doing, err);
    else if (sqlite3_changes(s->db) == 0)
        r = err_set(err, -ENOENT, "there is no token \"%s\"; `ballast token list` lists them", t->name);
    if (r == 0)
        return store_commit(s, err);
    store_sqlite.rollback(s);
    return r;
}

int store_put_token(struct store *s, const struct token_record *t, struct err *err)
{
    return change(s,
                  "INSERT INTO tokens (name, role, hash, created, created_by, expires, used, owner)"
                  " VALUES (:name, :role, :hash, :created, :created_by, :expires, 0, :owner)",
                  t, "store a token", err);
}

int store_delete_token(struct store *s, const char *name, struct err *err)
{
    return change(s, "DELETE FROM tokens WHERE name = :name", &(struct token_record){.name = name},
                  "change a token", err);
}

int store_set_token_used(struct store *s, const char *name, instant_s used, struct err *err)
{
    return change(s, "UPDATE tokens SET used = :used WHERE name = :name",
                  &(struct token_record){.name = name, .used = used}, "change a token", err);
}

/* A row that makes no sense gives no access. */
static bool read_row(sqlite3_stmt *st, struct arena *a, struct token_record *ret)
{
    const char *role = store_column_text(st, 1, a);

    *ret = (struct token_record){.name = store_column_text(st, 0, a),
                                 .created = sqlite3_column_int64(st, 3),
                                 .created_by = store_column_text(st, 4, a),
                                 .expires = sqlite3_column_int64(st, 5),
                                 .used = sqlite3_column_int64(st, 6),
                                 .owner = store_column_text(st, 7, a)};
    if (!ret->name || !role || role_parse(role, &ret->role) < 0 ||
        sqlite3_column_bytes(st, 2) != TOKEN_RECORD_HASH_BYTES)
        return false;
    memcpy(ret->hash, sqlite3_column_blob(st, 2), TOKEN_RECORD_HASH_BYTES);
    return true;
}

int store_list_tokens(struct store *s, struct arena *a, struct token_record **ret, size_t *ret_n,
                      struct err *err)
{
    static const char doing[] = "list the tokens";
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int rc;
    int r = store_prepare_one(s,
                              "SELECT name, role, hash, created, created_by, expires, used, owner FROM tokens"
                              " ORDER BY name",
                              &st, doing, err);
    size_t cap = 0;

    *ret = NULL;
    *ret_n = 0;
    if (r < 0)
        return r;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        *ret = arena_grow(a, *ret, *ret_n, &cap, sizeof **ret);
        *ret_n += read_row(st, a, &(*ret)[*ret_n]);
    }
    return rc == SQLITE_DONE ? 0 : store_failed(s, doing, err);
}
