/* elements.h: the elements of oVirt's REST API, as one table that the writer (write.h) and the reader
 * (body.h) follow. Names are those of version 4 of oVirt's API model.
 *
 * The neutral form of an element is a JSON object with these names and values of JSON types: a number is a
 * number, a truth is true or false, a list is an array. Members that an element does not know may be in it;
 * they are not written. */
#ifndef BALLAST_HTTP_REST_ELEMENTS_H
#define BALLAST_HTTP_REST_ELEMENTS_H

#include <stddef.h>

#define REST_ROOT "/ovirt-engine/api"
#define REST_NAME_MAX 40 /* bytes of a member's name */

enum rest_kind {
    REST_NONE,
    REST_API,
    REST_SCHEDULING_POLICY,
    REST_FILTER,
    REST_WEIGHT,
    REST_BALANCE,
    REST_SCHEDULING_POLICY_UNIT,
    REST_CLUSTER,
    REST_DATA_CENTER,
    REST_HOST,
    REST_VM,
    REST_STATISTIC,
    REST_AFFINITY_GROUP,
    REST_AFFINITY_LABEL,
    REST_ACTION,
    REST_FAULT,
    /* Parts of others. */
    REST_PROPERTY,
    REST_THRESHOLDS,
    REST_PRODUCT_INFO,
    REST_VERSION,
    REST_CPU,
    REST_TOPOLOGY,
    REST_SUMMARY,
    REST_STATE,
    REST_SWITCH,
    REST_POWER_MANAGEMENT,
    REST_MEMORY_POLICY,
    REST_PLACEMENT_POLICY,
    REST_VALUE,
    REST_RULE,
    REST_KINDS
};

enum rest_form {
    REST_TEXT,
    REST_NUMBER,
    REST_TRUTH,
    REST_OBJECT,
    REST_REFERENCE, /* an element of which only id and href are written, and id and name are read */
    REST_LIST,
    REST_LINK /* href and rel; in its place the list, if the neutral form has it */
};

#define REST_ATTRIBUTE 0x1u    /* in XML */
#define REST_ATTRIBUTE_V3 0x2u /* in XML of version 3 */
#define REST_STATE_V3 0x4u     /* in version 3 within <state> */
#define REST_ONLY_V3 0x8u
#define REST_SEARCH 0x10u     /* a link: a second one says how to search */
#define REST_ACTIONS 0x20u    /* a link: below <actions> */
#define REST_OWN_ID 0x40u     /* a reference whose id is the element's own: either one may be left out */
#define REST_REFERENCES 0x80u /* the list's elements are references */

struct rest_member {
    const char *name; /* of a link its rel */
    enum rest_form form;
    unsigned flags;
    enum rest_kind
        inner; /* of an object, a reference, or a list's elements; REST_NONE: a link without a list */
};

struct rest_element {
    const char *name;       /* of the element, and of each in a list */
    const char *plural;     /* of the collection's element */
    const char *collection; /* segment of its path below REST_ROOT; NULL: it stands below another element */
    const struct rest_member *members; /* a member without a name ends them */
};

const struct rest_element *rest_element(enum rest_kind kind);

/* The kind whose element, or whose collection's segment, has this name. REST_NONE: none has. */
enum rest_kind rest_kind_of_element(const char *name);
enum rest_kind rest_kind_of_collection(const char *segment);

/* The member that gives another element's id as this one's own; NULL: the kind has none. */
const struct rest_member *rest_own_id(const struct rest_element *element);

#endif
