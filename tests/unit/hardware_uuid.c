/* UUIDs of machines: texts, orders of bytes, placeholders. */
#include "unit.h"

#include "base/hardware_uuid.h"
#include "base/rng.h"

#include <errno.h>
#include <string.h>

static struct hardware_uuid parsed(const char *text)
{
    struct hardware_uuid u;

    if (hardware_uuid_parse(text, &u) != 0)
        fail_msg("%s", text);
    return u;
}

static void test_texts(void **state)
{
    static const char *const good[] = {
        "4c4c4544-0042-5110-8036-b6c04f593132", "4C4C4544-0042-5110-8036-B6C04F593132",
        "{4c4c4544-0042-5110-8036-b6c04f593132}", "4c4c4544004251108036b6c04f593132"};
    static const char *const bad[] = {"",
                                      "4c4c4544-0042-5110-8036-b6c04f5931",
                                      "4c4c4544-0042-5110-8036-b6c04f59313233",
                                      "{4c4c4544-0042-5110-8036-b6c04f593132",
                                      "4c4c4544-0042-5110-8036-b6c04f593132}",
                                      "4c4c4544--0042-5110-8036-b6c04f593132",
                                      "4c4c4544-0042-5110-8036-b6c04f59313g",
                                      "Not Settable"};
    char text[HARDWARE_UUID_TEXT];
    struct hardware_uuid u;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(good); i++) {
        u = parsed(good[i]);
        hardware_uuid_print(&u, text);
        assert_string_equal(text, good[0]);
    }
    for (size_t i = 0; i < ELEMENTS(bad); i++) {
        if (hardware_uuid_parse(bad[i], &u) != -EINVAL)
            fail_msg("%s", bad[i]);
    }
    assert_int_equal(hardware_uuid_parse(NULL, &u), -EINVAL);
}

/* One machine, as RFC 4122, SMBIOS and IPMI order its bytes. */
static void test_orders(void **state)
{
    static const char *const orders[] = {"4c4c4544-0042-5110-8036-b6c04f593132",
                                         "44454c4c-4200-1051-8036-b6c04f593132",
                                         "3231594f-c0b6-3680-1051-420044454c4c"};
    struct rng rng = {.state = 1};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(orders); i++) {
        for (size_t k = 0; k < ELEMENTS(orders); k++) {
            struct hardware_uuid a = parsed(orders[i]);
            struct hardware_uuid b = parsed(orders[k]);

            assert_true(hardware_uuid_same(&a, &b));
        }
    }
    /* another machine of the same vendor differs by single characters of its service tag */
    for (int n = 0; n < 10000; n++) {
        struct hardware_uuid a = parsed(orders[0]);
        struct hardware_uuid b = a;
        size_t at = rng_next(&rng) % HARDWARE_UUID_BYTES;

        b.byte[at] = (uint8_t)(b.byte[at] + 1 + rng_next(&rng) % 255);
        assert_false(hardware_uuid_same(&a, &b));
        assert_false(hardware_uuid_same(&b, &a));
    }
}

static void test_placeholders(void **state)
{
    static const char *const none[] = {
        "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "00020003-0004-0005-0006-000700080009", "03000200-0400-0500-0006-000700080009",
        "09000800-0700-0600-0500-040003000200", "12345678-1234-5678-90AB-CDDEEFAABBCC",
        "00112233-4455-6677-8899-aabbccddeeff", "fefefefe-fefe-fefe-fefe-fefefefefefe",
        "0f0e0d0c-0b0a-0908-0706-050403020100"};
    static const char *const some[] = {"4c4c4544-0042-5110-8036-b6c04f593132",
                                       "00000000-0000-0000-0000-ac1f6b123456", /* Supermicro: a MAC address */
                                       "a1234567-89ab-cdef-a123-456700000001"};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(none); i++) {
        struct hardware_uuid u = parsed(none[i]);

        if (!hardware_uuid_is_placeholder(&u))
            fail_msg("%s", none[i]);
    }
    for (size_t i = 0; i < ELEMENTS(some); i++) {
        struct hardware_uuid u = parsed(some[i]);

        if (hardware_uuid_is_placeholder(&u))
            fail_msg("%s", some[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_placeholders)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
