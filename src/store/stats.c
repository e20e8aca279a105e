/* stats.c: counts the bytes and the rows of the store. */
#include "store/stats.h"

#include "store/internal.h"

#include "base/cleanup.h"

#define TABLES_MAX 64

static const char doing[] = "count its rows";

static int list_tables(const struct store *s, struct arena *a, struct store_stats *ret, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int code = sqlite3_prepare_v2(s->db,
                                  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE"
                                  " 'sqlite_%' ORDER BY name",
                                  -1, &st, NULL);

    ret->tables = arena_array(a, struct store_table, TABLES_MAX);
    ret->n_tables = 0;
    while (code == SQLITE_OK && (code = sqlite3_step(st)) == SQLITE_ROW && ret->n_tables < TABLES_MAX) {
        ret->tables[ret->n_tables++].name = arena_strdup(a, (const char *)sqlite3_column_text(st, 0));
        code = SQLITE_OK;
    }
    return code == SQLITE_DONE || code == SQLITE_ROW ? 0 : store_failed(s, doing, err);
}

int store_stats(struct store *s, struct arena *a, struct store_stats *ret, struct err *err)
{
    int r = store_read_number(s, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
                              (int64_t *)&ret->bytes, err);

    if (r == 0)
        r = list_tables(s, a, ret, err);
    for (size_t i = 0; r == 0 && i < ret->n_tables; i++) {
        const char *sql = arena_printf(a, "SELECT count(*) FROM \"%s\"", ret->tables[i].name);

        r = store_read_number(s, sql, (int64_t *)&ret->tables[i].rows, err);
    }
    return r;
}
