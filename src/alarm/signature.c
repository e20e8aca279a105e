/* signature.c: HMAC-SHA256 by libcrypto. */
#include "alarm/signature.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#define SECRET_BYTES_MAX 66 /* 64, and what EVP_DecodeBlock() writes for padding */
#define SECRET_DIGITS_MAX 88

static int decode_secret(const char *secret, unsigned char key[SECRET_BYTES_MAX], int *ret_len)
{
    static const char prefix[] = "whsec_";

    if (strncmp(secret, prefix, sizeof prefix - 1) != 0)
        return -EINVAL;
    secret += sizeof prefix - 1;
    size_t len = strlen(secret);

    if (len == 0 || len > SECRET_DIGITS_MAX || len % 4 != 0)
        return -EINVAL;
    int bytes = EVP_DecodeBlock(key, (const unsigned char *)secret, (int)len);

    if (bytes < 0)
        return -EINVAL;
    *ret_len = bytes - (secret[len - 1] == '=') - (secret[len - 2] == '=');
    return 0;
}

int alarm_sign(const char *secret, const char *id, int64_t timestamp, const char *body, size_t len,
               char ret[ALARM_SIGNATURE_MAX])
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    unsigned char key[SECRET_BYTES_MAX], sum[EVP_MAX_MD_SIZE];
    unsigned char digits[48]; /* of 32 bytes */
    unsigned n = 0;
    int key_len = 0;

    if (decode_secret(secret, key, &key_len) < 0)
        return -EINVAL;
    strbuf_printf(&text, "%s.%" PRId64 ".", id, timestamp);
    strbuf_add(&text, body, len);
    const unsigned char *done =
        HMAC(EVP_sha256(), key, key_len, (const unsigned char *)text.text, text.len, sum, &n);

    OPENSSL_cleanse(key, sizeof key);
    if (!done)
        return -EINVAL;
    (void)EVP_EncodeBlock(digits, sum, (int)n);
    (void)snprintf(ret, ALARM_SIGNATURE_MAX, "v1,%s", (const char *)digits);
    return 0;
}
