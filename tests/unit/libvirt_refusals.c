/* Which of libvirt's errors refuse a login, and what an admin reads then. */
#include "unit.h"

#include "net/libvirt/refusals.h"

#include <string.h>

static const struct {
    const char *text, *sentence; /* how it begins */
    bool refused;
} cases[] = {
    {"authentication failed: authentication failed", "it refuses the user admin or the password", true},
    {"authentication failed: Failed to verify peer's certificate", "its certificate is not accepted: ", true},
    {"authentication failed: Failed to collect auth credentials",
     "it asks for a user and a password: ", true},
    {"Unable to read TLS confirmation: Input/output error",
     "it does not accept the certificate of this machine", true},
    {"The client certificate /etc/pki/libvirt/clientcert.pem has expired", "The client certificate /etc",
     true},
    {"Cannot recv data: Host key verification failed.: Connection reset by peer",
     "ssh does not know its host", true},
    {"Cannot recv data: root@kvm1: Permission denied (publickey).: Connection reset by peer",
     "it refuses the ssh key", true},
    {"Failed to connect socket to '/var/run/libvirt/libvirt-sock': Permission denied",
     "Failed to connect socket to '/var/run/libvirt/libvirt-sock'", true},
    {"Failed to connect socket to '/var/run/libvirt/libvirt-sock': No such file or directory",
     "Failed to connect socket to '/var/run/libvirt/libvirt-sock'", false},
    {"unable to connect to server at 'kvm1:16514': Connection refused", "unable to connect to server", false},
};

static void refusals_are_told_from_other_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char said[512];
        bool refused = libvirt_refusals_explain(cases[i].text, "admin", said, sizeof said);

        if (refused != cases[i].refused || strncmp(said, cases[i].sentence, strlen(cases[i].sentence)) != 0)
            fail_msg("%s: %s, %s", cases[i].text, said, refused ? "refused" : "not refused");
    }
}

static void a_long_text_is_cut(void **state)
{
    (void)state;
    char text[2000], said[64];

    memset(text, 'x', sizeof text);
    memcpy(text, "Permission denied", 17);
    text[sizeof text - 1] = '\0';
    assert_true(libvirt_refusals_explain(text, NULL, said, sizeof said));
    assert_int_equal(strlen(said), sizeof said - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refusals_are_told_from_other_errors),
                                       cmocka_unit_test(a_long_text_is_cut)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
