/* token.h: bearer tokens: made once, kept as their hash, known by name and role.
 *
 * A token is 256 random bits, so a plain SHA-256 of it is as hard to invert as the token is to guess. The
 * store keeps the hashes; the tokens in force are given here (token_list_set()) and looked up by HTTP's
 * threads.
 */
#ifndef BALLAST_HTTP_TOKEN_H
#define BALLAST_HTTP_TOKEN_H

#include <ballast/err.h>
#include <ballast/names.h>
#include <ballast/units.h>

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_PREFIX "ballast_"
#define TOKEN_TEXT_SIZE (sizeof TOKEN_PREFIX + 64)
#define TOKEN_HASH_BYTES 32
#define TOKEN_NAME_MAX 48

struct token {
    char name[TOKEN_NAME_MAX];
    char owner[PERSON_NAME_MAX]; /* the person who uses it; "": not said */
    unsigned char hash[TOKEN_HASH_BYTES];
    enum role role;
    instant_s expires; /* 0: never */
    instant_s used;    /* last; 0: never */
};

/* 256 random bits as hexadecimal digits. A negative errno: there are none. */
#define TOKEN_RANDOM_SIZE 65
int token_random(char ret[TOKEN_RANDOM_SIZE]);

int token_hash(const char *text, unsigned char ret[TOKEN_HASH_BYTES]);

/* A new token and its hash. A negative errno: no random numbers. */
int token_make(char ret[TOKEN_TEXT_SIZE], unsigned char ret_hash[TOKEN_HASH_BYTES]);

/* Letters, digits and - _ . of at most TOKEN_NAME_MAX - 1 bytes. */
bool token_name_is_good(const char *name);

/* The tokens in force. Any thread. */
struct token_list;
struct token_list *token_list_new(void);
void token_list_free(struct token_list *t); /* NULL is fine */

/* Takes over this list instead; copied. The last use of a token that stays is kept. */
void token_list_set(struct token_list *t, const struct token *list, size_t n);

/* -ENOENT: no such token; -EKEYEXPIRED: it has expired, *ret says which it was. Notes the use. */
int token_list_check(struct token_list *t, const char *text, instant_s now, struct token *ret);

/* The token of this hash, likewise; only TOKEN_USED notes the use. ret may be NULL. */
enum token_look { TOKEN_LOOKED_AT, TOKEN_USED };
int token_list_find(struct token_list *t, const unsigned char hash[TOKEN_HASH_BYTES], instant_s now,
                    enum token_look look, struct token *ret);

/* When the token of this name was used last; 0: never. */
instant_s token_list_used(struct token_list *t, const char *name);

#endif
