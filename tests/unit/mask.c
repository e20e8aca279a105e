/* What may be a secret is taken out of a text, and nothing else. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/mask.h"

#include <string.h>

#define HEX16 "0123456789abcdef"
#define TOKEN "ballast_" HEX16 HEX16 HEX16 HEX16

static const struct {
    const char *before, *after;
} cases[] = {
    {"", ""},
    {"VM web-1 moves from esx1 to esx2", "VM web-1 moves from esx1 to esx2"},
    {"url: https://vcenter.example/sdk", "url: https://vcenter.example/sdk"},
    {"url: https://admin:pass@vcenter.example:8443/sdk", "url: https://***@vcenter.example:8443/sdk"},
    {"https://a@b@host/", "https://***@host/"},
    {"https://hooks.example/services/T000/B000/key and more", "https://hooks.example/services*** and more"},
    {"\"https://hooks.example/x?key=1#part\", next", "\"https://hooks.example/x?***\", next"},
    {"https://push.example/3f9c-e1 https://push.example/alertsofmine, https://h/ab1",
     "https://push.example/*** https://push.example/***, https://h/***"},
    {"https://bmc/redfish/v1/Systems 'https://h/' https://h/a",
     "https://bmc/redfish*** 'https://h/' https://h/a"},
    {"mqtts://broker.example:8883", "mqtts://broker.example:8883"},
    {"password: of the admin", "password: ***"},
    {"password_file: /etc/ballast/vcenter.password", "password_file: /etc/ballast/vcenter.password"},
    {"smtp_password = \"a \\\" b\"\nnext: 1", "smtp_password = \"***\" b\"\nnext: 1"},
    {"{\"token\": \"abc\", \"name\": \"ci\"}", "{\"token\": \"***\", \"name\": \"ci\"}"},
    {"secret:", "secret:"},
    {"the password was refused", "the password was refused"},
    {"approved by ops (token)", "approved by ops (token)"},
    {"Authorization: Bearer abc.def", "Authorization: ***"},
    {"sent basic QWxhZGRpbg== x", "sent basic *** x"},
    {"curl --token abc -x", "curl --token *** -x"},
    {"[/usr/bin/curl, --token, abc, x]", "[/usr/bin/curl, --token, ***, x]"},
    {"[\"curl\", \"--api-key\", \"a b\", \"x\"]", "[\"curl\", \"--api-key\", \"***\", \"x\"]"},
    {"curl --api-key=abc", "curl --api-key=***"},
    {"curl -u a:b http", "curl -u *** http"},
    {"-H 'X-Api-Key: abc' x", "-H '***' x"},
    {"X-Api-Key: abc", "X-Api-Key: ***"},
    {"Set-Cookie: id=abc; Path=/", "Set-Cookie: ***"},
    {"x.command is \"a b\", expected a list", "x.command is \"***\", expected a list"},
    {"{\"t\": \"x is \\\"a b\\\", expected\"}", "{\"t\": \"x is \\\"***\\\", expected\"}"},
    {"it is on, and has 3", "it is on, and has 3"},
    {"created " TOKEN "!", "created ***!"},
    {"ballast_hosts 3", "ballast_hosts 3"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(strbuf_releasep) struct strbuf out = {0};

        strbuf_init(&out, STRBUF_NO_LIMIT);
        mask_secrets(cases[i].before, strlen(cases[i].before), &out);
        assert_string_equal(out.text, cases[i].after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
