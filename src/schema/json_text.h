/* json_text.h: the tokens of a JSON text, which arrives piece by piece.
 *
 * Only a window of the text is in memory: it moves on with the reading and holds at least the present token.
 * A text that is in memory as a whole is its own window. Strict RFC 8259; numbers become doubles, rounded
 * correctly. */
#ifndef BALLAST_SCHEMA_JSON_TEXT_H
#define BALLAST_SCHEMA_JSON_TEXT_H

#include <ballast/arena.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Where a text comes from: from memory, or from a function. */
struct json_source {
    const char *text; /* without `read` */
    size_t len;
    ssize_t (*read)(void *from, void *into, size_t size); /* bytes read; 0: the end; a negative errno */
    void *from;
    size_t most; /* bytes of the whole text; more are the error -EFBIG. 0: any */
};

struct json_text {
    const char *at, *end; /* what was read from the source and not yet taken */
    const char *token;    /* the beginning of the last token, until the next is read */
    const char *line_start;
    size_t line, column_before; /* characters of the line before line_start */
    struct json_source source;
    char *window; /* of a source with `read` */
    size_t cap, bytes;
    int error; /* of the source */
};

void json_text_init(struct json_text *t, const struct json_source *source);
void json_text_release(struct json_text *t);

/* The next byte that is not blank; -1 at the end of the text, also after an error of the source. */
int json_text_peek(struct json_text *t);

/* Each takes the token that json_text_peek() found to begin with '"', with '-' or a digit, with the first
 * letter of the word; NULL, or what was expected instead at t->at. Strings are copied into the arena. */
const char *json_text_string(struct json_text *t, struct arena *a, const char **ret);
const char *json_text_number(struct json_text *t, double *ret);
const char *json_text_word(struct json_text *t, const char *word);

/* The column of the byte at t->at, from 1, in characters; at the end of the text the last one's. */
size_t json_text_column(const struct json_text *t);

#endif
