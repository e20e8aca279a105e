/* move_checker.c: starts vCenter's check of a migration, waits for its task, and reads the errors in its
 * result. It changes nothing at the peer. */
#include "actuators/vsphere/move_checker.h"

#include "actuators/vsphere/operations.h"
#include "base/cleanup.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

#define WAIT_MOST_MS 10000 /* a check that takes longer holds no migration up */
#define LOOK_FIRST_MS 100  /* between two looks at the task, doubled ... */
#define LOOK_MOST_MS 1000  /* ... up to this */
#define REASONS_MOST 2     /* of vCenter's errors in a sentence */

static const struct {
    const char *name;
    bool needs_state; /* has a parameter for the VM's power state */
} methods[] = {{"QueryVMotionCompatibilityEx_Task", false}, {"CheckMigrate_Task", true}};

#define METHODS (sizeof methods / sizeof methods[0])

static int begin(struct vsphere *v, size_t method, const struct operation *q, char ret_task[TASK_NAME_MAX],
                 struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    const char *name = methods[method].name;

    vsphere_begin(&body, name, "VirtualMachineProvisioningChecker", vsphere_content(v)->provisioning_checker);
    vsphere_put_ref(&body, "vm", "VirtualMachine", q->vm);
    vsphere_put_ref(&body, "host", "HostSystem", q->to);
    if (methods[method].needs_state)
        soap_put_text(&body, "state", "poweredOn");
    vsphere_end(&body, name);
    return vsphere_call_for_task(v, name, &body, ret_task, err);
}

/* The first method that the peer has. -ENOTSUP: none. */
static int begin_any(struct move_checker *c, struct vsphere *v, const struct operation *q,
                     char ret_task[TASK_NAME_MAX], struct err *err)
{
    for (size_t i = 0; i < METHODS; i++) {
        if (c->missing & (1u << i))
            continue;
        int r = begin(v, i, q, ret_task, err);
        if (r != -ENOTSUP && r != -EPERM)
            return r;
        log_debug("%s: migrations are not checked by %s: %s", vsphere_url(v), methods[i].name, err->text);
        c->missing |= 1u << i;
    }
    return -ENOTSUP;
}

/* Adds the messages of one CheckResult's errors to the text; returns their number. */
static size_t add_errors(const xml_node *result, size_t n, struct strbuf *to)
{
    for (const xml_node *e = xml_child(result, "error"); e; e = xml_again(e), n++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        char message[256];

        xml_line(xml_child(e, "localizedMessage"), message, sizeof message);
        const char *type = xml_type(xml_child(e, "fault"), &a);
        if (n < REASONS_MOST)
            strbuf_printf(to, "%s%s", n > 0 ? "; " : "",
                          message[0] ? message
                          : type     ? type
                                     : "no reason given");
    }
    return n;
}

static int judge(const struct vsphere *v, const xml_node *info, const char *vm_name, const char *host_name,
                 struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf reasons = STRBUF_EMPTY;
    size_t n = 0;

    for (const xml_node *r = xml_child(info, "result/CheckResult"); r; r = xml_again(r))
        n = add_errors(r, n, &reasons);
    if (n == 0)
        return 0;
    if (n > REASONS_MOST)
        strbuf_printf(&reasons, "; and %zu more", n - REASONS_MOST);
    return err_set(err, -EPERM, "%s: vCenter would not migrate VM %s to %s: %s", vsphere_url(v), vm_name,
                   host_name, reasons.text);
}

/* One look at the task. 1: it has not ended; else as move_checker_ask(). */
static int look(struct vsphere *v, const char *task, const char *vm_name, const char *host_name,
                struct err *err)
{
    static const char *const paths[] = {"info", NULL};
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_object o;
    struct vsphere_task t;
    int r = vsphere_get(v, "Task", task, paths, &answer, &o, err);

    if (r == -ENOENT)
        return 0; /* forgotten, for instance by a restart of vCenter */
    if (r < 0)
        return r;
    const xml_node *info = vsphere_prop(&o, "info");

    if (vsphere_task_read(info, &t, err) < 0)
        return err_widen(err, "%s: %s", vsphere_url(v), task);
    if (vsphere_task_is_active(&t))
        return 1;
    if (t.state == VSPHERE_TASK_SUCCESS)
        return judge(v, info, vm_name, host_name, err);
    log_debug("%s: the check of a migration failed: %s (%s)", vsphere_url(v), t.error_text, t.error_type);
    return 0;
}

int move_checker_ask(struct move_checker *c, struct vsphere *v, const struct operation *q,
                     const char *vm_name, const char *host_name, struct err *err)
{
    char task[TASK_NAME_MAX];
    struct err why = {0};
    int64_t until = net_now_ms() + WAIT_MOST_MS;
    int64_t pause = LOOK_FIRST_MS;

    if (!vsphere_content(v)->provisioning_checker[0])
        return 0;
    int r = begin_any(c, v, q, task, &why);
    if (r == -ENOTSUP)
        return 0;
    if (r == 0)
        r = look(v, task, vm_name, host_name, &why);
    while (r == 1 && net_now_ms() < until) {
        r = vsphere_sleep(v, pause, &why);
        pause = pause < LOOK_MOST_MS / 2 ? 2 * pause : LOOK_MOST_MS;
        if (r == 0)
            r = look(v, task, vm_name, host_name, &why);
    }
    if (r < 0 && err)
        *err = why;
    return r < 0 ? r : 0;
}
