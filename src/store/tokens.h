/* tokens.h: the tokens of the API over HTTP: their hashes, never themselves. */
#ifndef BALLAST_STORE_TOKENS_H
#define BALLAST_STORE_TOKENS_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/names.h>
#include <ballast/units.h>

struct store;

#define TOKEN_RECORD_HASH_BYTES 32

struct token_record {
    const char *name;
    enum role role;
    unsigned char hash[TOKEN_RECORD_HASH_BYTES]; /* SHA-256 */
    instant_s created;
    const char *created_by;
    const char *owner; /* the person who uses it; NULL: not said */
    instant_s expires; /* 0: never */
    instant_s used;    /* last; 0: never */
};

/* -EEXIST: there is one of this name. Durable when it returns 0. */
int store_put_token(struct store *s, const struct token_record *t, struct err *err);

/* -ENOENT: there is none of this name. */
int store_delete_token(struct store *s, const char *name, struct err *err);
int store_set_token_used(struct store *s, const char *name, instant_s used, struct err *err);

/* By name. Copied into the arena. */
int store_list_tokens(struct store *s, struct arena *a, struct token_record **ret, size_t *ret_n,
                      struct err *err);

#endif
