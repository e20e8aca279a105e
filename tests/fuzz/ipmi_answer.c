/* Answers of management controllers: parsed, and the results compared with those of FreeIPMI for the same
 * bytes. */
#include "actuators/ipmi/answer.h"

#include <errno.h>
#include <freeipmi/freeipmi.h>
#include <math.h>
#include <stdlib.h>

static void expect(bool true_)
{
    if (!true_)
        abort();
}

/* What FreeIPMI reads in a field of the answer. */
static uint64_t field_of(fiid_field_t *template, const char *field, const uint8_t *data, size_t size)
{
    fiid_obj_t o = fiid_obj_create(template);
    uint64_t value = UINT64_MAX;

    expect(o && fiid_obj_set_all(o, data, (unsigned)size) >= 0 && fiid_obj_get(o, field, &value) == 1);
    fiid_obj_destroy(o);
    return value;
}

static void commands(const uint8_t *data, size_t size)
{
    struct err err = {0};
    enum chassis is = CHASSIS_UNKNOWN;
    double watts = -1;

    if (ipmi_answer_chassis(data, size, &is, &err) == 0 && size <= 6)
        expect((is == CHASSIS_ON) == (field_of(tmpl_cmd_get_chassis_status_rs,
                                               "current_power_state.power_is_on", data, size) == 1));
    if (ipmi_answer_watts(data, size, &watts, &err) == 0) {
        expect(isfinite(watts) && watts >= 0);
        expect(fabs(watts - (double)field_of(tmpl_cmd_dcmi_get_power_reading_rs, "current_power", data, 20)) <
               0.5);
    }
    struct hardware_uuid uuid;
    struct mac mac;

    if (ipmi_answer_guid(data, size, &uuid, &err) == 0)
        expect(size >= 18 && uuid.byte[15] == data[17] && hardware_uuid_same(&uuid, &uuid));
    if (ipmi_answer_mac(data, size, &mac, &err) == 0)
        expect(size >= 9 && mac.byte[5] == data[8]);
    if (ipmi_answer_done(data, size, 0x02, &err) < 0)
        expect(err.code < 0 && err.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ipmi_ping says = {.seq = 0xff};
    struct err err = {0};

    (void)ipmi_ping_read(data, size, true, &says, &err);
    says.seq = 0xff;
    int r = ipmi_ping_read(data, size, false, &says, &err);
    expect(r == 0 ? says.seq < 64 : r == -EPROTO && err.text[0] && says.seq == 0xff);
    r = ipmi_opening_read(data, size, size ? data[size - 1] : 0, &err);
    expect(r <= 0);
    (void)ipmi_opening_read(data, size, 0, &err);
    commands(data, size);
    return 0;
}
