/* answer_meter.c: what a system draws, as the different resources of a service tell it. */
#include "actuators/redfish/answer.h"

#include "base/rfc3339.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WATTS_MAX 100000.0 /* of one host */
#define AGE_MAX_S (2 * POWER_METER_PERIOD_S)

static int number_of(const json_t *found, double *ret, struct err *err)
{
    if (!found)
        return err_set(err, -ENOTSUP, "the controller has no power meter");
    if (json_is_null(found))
        return err_set(err, -EBUSY, "the controller's power meter has no reading just now");
    double w = json_number_value(found); /* 0 for what is no number */
    if (!json_is_number(found) || !isfinite(w) || w < 0 || w > WATTS_MAX)
        return err_set(err, -EPROTO, "the controller's power meter reads nonsense");
    *ret = w;
    return 0;
}

/* Firmware is not consistent about case and the slash at the end. */
static bool is_same(const struct redfish_path *a, const struct redfish_path *b)
{
    size_t a_len = strlen(a->text), b_len = strlen(b->text);

    while (a_len > 0 && a->text[a_len - 1] == '/')
        a_len--;
    while (b_len > 0 && b->text[b_len - 1] == '/')
        b_len--;
    return a_len > 0 && a_len == b_len && strncasecmp(a->text, b->text, a_len) == 0;
}

enum relation { OF_SYSTEM, OF_CHASSIS, OF_NOTHING_NAMED, OF_OTHERS };

static enum relation relation_of(const json_t *o, const struct redfish_metered *whose)
{
    size_t n = json_array_size(json_object_get(o, "RelatedItem"));
    enum relation best = n == 0 ? OF_NOTHING_NAMED : OF_OTHERS;
    struct redfish_path item;

    for (size_t i = 0; i < n; i++) {
        if (!redfish_link_at(o, "RelatedItem", i, &item))
            continue;
        if (is_same(&item, &whose->system))
            return OF_SYSTEM;
        if (is_same(&item, &whose->chassis))
            best = OF_CHASSIS;
    }
    return best;
}

/* Whether a reading with that relation is the system's, and no one else's. */
static bool counts(enum relation r, const struct redfish_metered *whose)
{
    switch (r) {
    case OF_SYSTEM:
        return true;
    case OF_CHASSIS:
    case OF_NOTHING_NAMED:
        return !whose->shared;
    case OF_OTHERS:
        break;
    }
    return false;
}

/* Of all PowerControl the one that names the system; else the chassis; else one that names nothing. The
 * others are of processors, memory or neighbours. */
static int power_control(const json_t *o, const struct redfish_metered *whose, double *ret, struct err *err)
{
    const json_t *controls = json_object_get(o, "PowerControl");
    const json_t *found = NULL;
    enum relation of = OF_OTHERS;

    for (size_t i = 0; i < json_array_size(controls); i++) {
        const json_t *control = json_array_get(controls, i);
        const json_t *watts = json_object_get(control, "PowerConsumedWatts");
        enum relation is = relation_of(control, whose);
        bool better = is < of || (is == of && (!found || json_is_null(found)) && watts);

        if (!watts || !counts(is, whose) || !better)
            continue;
        found = watts;
        of = is;
    }
    return number_of(found, ret, err);
}

static bool contains(const char *text, const char *const *words)
{
    while (*words && !strcasestr(text, *words))
        words++;
    return *words;
}

bool redfish_is_power_sensor(const char *id)
{
    static const char *const kinds[] = {"power", "pwr", "watt", NULL};
    static const char *const wholes[] = {"total", "consum", "sys", "chassis", "node", "server", NULL};

    return contains(id, kinds) && contains(id, wholes);
}

bool redfish_is_power_report(const char *id)
{
    static const char *const kinds[] = {"power", NULL};

    return contains(id, kinds);
}

static int sensor(const json_t *o, const struct redfish_metered *whose, double *ret, struct err *err)
{
    const char *type = json_string_value(json_object_get(o, "ReadingType"));
    const char *units = json_string_value(json_object_get(o, "ReadingUnits"));
    const char *state = json_string_value(redfish_property(o, "Status.State"));
    bool power = (type && strcmp(type, "Power") == 0) || (!type && units && strcmp(units, "W") == 0);

    if (!power || !counts(relation_of(o, whose), whose))
        return err_set(err, -ENOTSUP, "the sensor does not measure the system's power");
    if (state && (strcmp(state, "Absent") == 0 || strcmp(state, "Disabled") == 0))
        return err_set(err, -ENOTSUP, "the sensor is not in use");
    return number_of(json_object_get(o, "Reading"), ret, err);
}

/* A metric is the system's if it says so by its property's path, or if there is no other system. */
static bool is_power_metric(const json_t *value, const struct redfish_metered *whose)
{
    static const char *const ids[] = {"SystemPowerConsumption", "SystemInputPower", "PowerConsumedWatts"};
    static const char *const ends[] = {"/PowerConsumedWatts", "/PowerWatts/Reading"};
    const char *id = json_string_value(json_object_get(value, "MetricId"));
    const char *property = json_string_value(json_object_get(value, "MetricProperty"));
    const char *chassis = whose->chassis.text, *system = whose->system.text;
    bool named =
        property && ((!whose->shared && chassis[0] && strncasecmp(property, chassis, strlen(chassis)) == 0) ||
                     (system[0] && strncasecmp(property, system, strlen(system)) == 0));

    for (size_t i = 0; id && i < sizeof ids / sizeof ids[0]; i++) {
        if (strcmp(id, ids[i]) == 0)
            return named || whose->alone;
    }
    for (size_t i = 0; property && named && i < sizeof ends / sizeof ends[0]; i++) {
        size_t len = strlen(property), tail = strlen(ends[i]);
        if (len > tail && strcmp(property + len - tail, ends[i]) == 0)
            return true;
    }
    return false;
}

static bool time_of(const json_t *o, const char *name, instant_s *ret)
{
    const char *text = json_string_value(json_object_get(o, name));

    return text && rfc3339_parse(text, ret) == 0;
}

/* A report stays where it is when the service has stopped to collect. */
static int check_age(instant_s measured, bool dated, instant_s clock, struct err *err)
{
    char then[RFC3339_MAX], now[RFC3339_MAX];

    if (!dated || clock == 0)
        return err_set(err, -EBUSY,
                       "the controller's metric report does not say %s, so its draw may be an old one",
                       dated ? "what time it is there" : "when it measured");
    if (llabs((long long)(clock - measured)) <= AGE_MAX_S)
        return 0;
    return err_set(
        err, -EBUSY,
        "the controller's metric report is of %s, and its clock says %s: a draw that is not of the last "
        "%d s is not used",
        rfc3339_format(measured, then), rfc3339_format(clock, now), AGE_MAX_S);
}

/* The newest value of the report; values are strings. One without a time of its own has the report's. */
static int report(const json_t *o, const struct redfish_metered *whose, double *ret, struct err *err)
{
    const json_t *values = json_object_get(o, "MetricValues");
    const char *text = NULL;
    instant_s of_report = 0, newest = 0;
    const bool report_dated = time_of(o, "Timestamp", &of_report);
    bool dated = false;
    char *end = NULL;

    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        const char *said = json_string_value(json_object_get(value, "MetricValue"));
        instant_s when = of_report;
        bool has_time = time_of(value, "Timestamp", &when) || report_dated;

        if (!said || !said[0] || !is_power_metric(value, whose) || (dated && (!has_time || when < newest)))
            continue;
        newest = when;
        dated = has_time;
        text = said;
    }
    if (!text)
        return err_set(err, -ENOTSUP, "the report has no power of the system");
    int r = check_age(newest, dated, whose->clock, err);

    if (r < 0)
        return r;
    double w = strtod(text, &end);
    if (*end != '\0' || !isfinite(w) || w < 0 || w > WATTS_MAX)
        return err_set(err, -EPROTO, "the controller's power meter reads nonsense");
    *ret = w;
    return 0;
}

int redfish_watts(enum redfish_source source, const json_t *o, const struct redfish_metered *whose,
                  double *ret, struct err *err)
{
    switch (source) {
    case REDFISH_ENVIRONMENT:
        return number_of(whose->shared ? NULL : redfish_property(o, "PowerWatts.Reading"), ret, err);
    case REDFISH_POWER_CONTROL:
        return power_control(o, whose, ret, err);
    case REDFISH_SUPPLY:
        return number_of(whose->shared ? NULL : redfish_property(o, "InputPowerWatts.Reading"), ret, err);
    case REDFISH_SENSOR:
        return sensor(o, whose, ret, err);
    case REDFISH_REPORT:
        return report(o, whose, ret, err);
    }
    return err_set(err, -EPROTO, "no such source");
}

instant_s redfish_clock(const json_t *manager)
{
    instant_s is = 0;

    return time_of(manager, "DateTime", &is) ? is : 0;
}

bool redfish_chassis_is_shared(const json_t *chassis)
{
    return json_array_size(redfish_property(chassis, "Links.ComputerSystems")) > 1;
}
