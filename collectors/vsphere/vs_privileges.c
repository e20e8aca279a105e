/* vs_privileges.c: the table of privileges, and the question which of them the session has. */
#include "collectors/vsphere/vs_privileges.h"

#include "base/cleanup.h"
#include "net/vsphere/props.h"

#include <ballast/actuator.h>

#include <errno.h>
#include <string.h>

#define BATCH 500 /* objects in a request: some 0.5 MB of XML in the answer */

#define DO(operation) (1u << OPERATION_##operation)

/* RelocateVM_Task asks for Resource.ColdMigrate whatever the VM's state is, and for Resource.HotMigrate where
 * it runs. UpdateConfig of pools asks for Resource.EditPool, but is never called in a cluster, where vCenter
 * divides the pools among the hosts. CheckMigrate_Task, QueryVMotionCompatibilityEx_Task and QueryEvents take
 * System.View, which every role has. */
const struct vs_privilege vs_privileges[] = {
    {"System.Read", "the role Read-only", ON_CLUSTER | ON_HOSTS | ON_VMS, 0, false, "reading the cluster",
     "RetrievePropertiesEx QueryPerf HasPrivilegeOnEntities"},
    {"Resource.HotMigrate", "Resource > Migrate powered on virtual machine", ON_VMS, DO(MIGRATE), false,
     "migrations", "RelocateVM_Task MigrateVM_Task"},
    {"Resource.ColdMigrate", "Resource > Migrate powered off virtual machine", ON_VMS,
     DO(MIGRATE) | DO(POWER_ON_VM), false, "migrations", "RelocateVM_Task MigrateVM_Task"},
    {"Host.Config.Maintenance", "Host > Configuration > Maintenance", ON_HOSTS,
     DO(ENTER_MAINTENANCE) | DO(EXIT_MAINTENANCE) | DO(STANDBY) | DO(WAKE), false,
     "`ballast maintenance`, standby and wake",
     "EnterMaintenanceMode_Task ExitMaintenanceMode_Task PowerDownHostToStandBy_Task "
     "PowerUpHostFromStandBy_Task"},
    {"VirtualMachine.Interact.PowerOn", "Virtual machine > Interaction > Power on", ON_VMS, DO(POWER_ON_VM),
     false, "`ballast place --apply`", "PowerOnVM_Task"},
    {"Global.CancelTask", "Global > Cancel task", ON_HOSTS | ON_VMS, DO(MIGRATE) | DO(ENTER_MAINTENANCE),
     true, "cancelling migrations and maintenance", "CancelTask"},
};

const size_t vs_privileges_count = sizeof vs_privileges / sizeof vs_privileges[0];

/* ---- the answer ---- */

static int index_of(const char *id)
{
    for (size_t i = 0; id && i < vs_privileges_count; i++) {
        if (strcmp(vs_privileges[i].id, id) == 0)
            return (int)i;
    }
    return -1;
}

int vs_privileges_read(const xml_node *payload, struct arena *a, struct idmap *granted, struct err *err)
{
    for (const xml_node *e = xml_child(payload, "returnval"); e; e = xml_again(e)) {
        const char *id = xml_text(xml_child(e, "entity"), a);
        uint32_t *bits = arena_new(a, uint32_t);

        if (!id || !id[0])
            return err_set(err, -EPROTO, "an answer about privileges names no object");
        for (const xml_node *p = xml_child(e, "privAvailability"); p; p = xml_again(p)) {
            int ix = index_of(xml_text(xml_child(p, "privId"), a));

            if (ix >= 0 && xml_bool(xml_child(p, "isGranted")))
                *bits |= 1u << ix;
        }
        *idmap_slot(granted, id) = bits;
    }
    return 0;
}

/* ---- the question ---- */

/* The key of the present session. */
static int read_session_key(struct vsphere *v, struct arena *a, const char **ret, struct err *err)
{
    static const char *const paths[] = {"currentSession", NULL};
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_object o;
    int r = vsphere_get(v, "SessionManager", vsphere_content(v)->session_manager, paths, &answer, &o, err);

    if (r < 0)
        return r;
    *ret = xml_text(xml_child(vsphere_prop(&o, "currentSession"), "key"), a);
    return *ret ? 0 : err_set(err, -EPROTO, "%s: the session has no key", vsphere_url(v));
}

static uint32_t needed_on(const struct vs_entity *e)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < vs_privileges_count; i++) {
        if (vs_privileges[i].on & e->on)
            bits |= 1u << i;
    }
    return bits;
}

static int ask_batch(struct vsphere *v, const char *session, const struct vs_entity *entities, size_t n,
                     uint32_t *ret_missing, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    CLEANUP(idmap_releasep) struct idmap granted = {0};

    vsphere_begin(&body, "HasPrivilegeOnEntities", "AuthorizationManager",
                  vsphere_content(v)->authorization_manager);
    for (size_t i = 0; i < n; i++)
        vsphere_put_ref(&body, "entity", entities[i].type, entities[i].id);
    soap_put_text(&body, "sessionId", session);
    for (size_t i = 0; i < vs_privileges_count; i++)
        soap_put_text(&body, "privId", vs_privileges[i].id);
    vsphere_end(&body, "HasPrivilegeOnEntities");
    int r = vsphere_call(v, "HasPrivilegeOnEntities", &body, &answer, err);
    if (r == 0)
        r = vs_privileges_read(answer.payload, &a, &granted, err);
    for (size_t i = 0; r == 0 && i < n; i++) {
        const uint32_t *has = idmap_get(&granted, entities[i].id);

        ret_missing[i] = needed_on(&entities[i]) & ~(has ? *has : 0);
    }
    return r;
}

int vs_privileges_ask(struct vsphere *v, const struct vs_entity *entities, size_t n, uint32_t *ret_missing,
                      struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *session = NULL;

    if (!vsphere_content(v)->authorization_manager[0])
        return err_set(err, -ENOTSUP, "%s: the peer has no AuthorizationManager", vsphere_url(v));
    int r = read_session_key(v, &a, &session, err);
    for (size_t i = 0; r == 0 && i < n; i += BATCH)
        r = ask_batch(v, session, entities + i, n - i < BATCH ? n - i : BATCH, ret_missing + i, err);
    return r;
}
