/* certificate.h: what distinguishes a peer's TLS certificate from all others. It verifies nothing; libcurl
 * does. */
#ifndef BALLAST_NET_CERTIFICATE_H
#define BALLAST_NET_CERTIFICATE_H

#define CERTIFICATE_FINGERPRINT_MAX 65
#define CERTIFICATE_PIN_MAX 56
#define CERTIFICATE_NAME_MAX 160

struct certificate {
    char fingerprint[CERTIFICATE_FINGERPRINT_MAX]; /* SHA-256 of the DER form, 64 digits in lower case, as
                                                      `openssl x509 -fingerprint -sha256` has it without the
                                                      colons */
    char pin[CERTIFICATE_PIN_MAX]; /* of its public key, as CURLOPT_PINNEDPUBLICKEY wants it: "sha256//..." */
    char subject[CERTIFICATE_NAME_MAX], issuer[CERTIFICATE_NAME_MAX]; /* "/CN=esx1.example", cut to this */
};

/* A certificate in PEM. -EINVAL: it is none. */
int certificate_read(const char *pem, struct certificate *ret);

#endif
