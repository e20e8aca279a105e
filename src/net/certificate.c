/* certificate.c: the fingerprints of a certificate, by libcrypto. */
#include "net/certificate.h"

#include "base/cleanup.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SHA256_BYTES 32

static void biop(BIO **b)
{
    (void)BIO_free(*b);
}

static void x509p(X509 **x)
{
    X509_free(*x);
}

static int read_pin(X509 *x, char ret[CERTIFICATE_PIN_MAX])
{
    static const char kind[] = "sha256//";
    unsigned char digest[SHA256_BYTES], *der = NULL;
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x), &der);
    bool ok = len > 0 && EVP_Digest(der, (size_t)len, digest, NULL, EVP_sha256(), NULL) == 1;

    OPENSSL_free(der);
    if (!ok)
        return -EINVAL;
    memcpy(ret, kind, sizeof kind - 1);
    (void)EVP_EncodeBlock((unsigned char *)ret + sizeof kind - 1, digest, sizeof digest);
    return 0;
}

int certificate_read(const char *pem, struct certificate *ret)
{
    unsigned char digest[SHA256_BYTES];
    unsigned n = 0;
    CLEANUP(biop) BIO *in = BIO_new_mem_buf(pem, -1);
    CLEANUP(x509p) X509 *x = in ? PEM_read_bio_X509(in, NULL, NULL, NULL) : NULL;

    *ret = (struct certificate){0};
    if (!x || X509_digest(x, EVP_sha256(), digest, &n) != 1 || n != sizeof digest ||
        read_pin(x, ret->pin) < 0)
        return -EINVAL;
    (void)X509_NAME_oneline(X509_get_subject_name(x), ret->subject, sizeof ret->subject);
    (void)X509_NAME_oneline(X509_get_issuer_name(x), ret->issuer, sizeof ret->issuer);
    for (size_t i = 0; i < sizeof digest; i++)
        (void)snprintf(ret->fingerprint + 2 * i, 3, "%02x", (unsigned)digest[i]);
    return 0;
}
