/* Keeps memory from being reclaimed after an upgrade until a person confirms the setting. */
#include "engine/reclaim_confirm.h"

#include "base/xalloc.h"
#include "engine/admin_commands.h"
#include "engine/decide.h"
#include "engine/persist.h"
#include "engine/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 640
#define ADMISSION "mem_admission"
#define OVERCOMMIT "mem_overcommit"

/* The setting that lets memory be reclaimed; NULL: neither does. */
static const char *setting_of(const struct policy *p)
{
    return p->mem_overcommit > 1                           ? OVERCOMMIT
           : p->mem_admission == MEM_ADMISSION_RESERVATION ? ADMISSION
                                                           : NULL;
}

static void wait_for_person(struct engine *e, bool waits)
{
    const struct policy *p = &e->settings.policy;
    const char *setting = waits ? setting_of(p) : NULL;
    char text[TEXT_MAX];
    char times[32];

    e->persist->notes_dirty = e->persist->notes_dirty || !setting;
    (void)snprintf(times, sizeof times, "%g", p->mem_overcommit);
    (void)snprintf(
        text, sizeof text,
        "%s %s has had no effect on free memory until now. Confirmed, it lets the hypervisor reclaim "
        "consumed but idle memory for a move, at most so much that all VMs keep what they demand and "
        "reserve, where the source tells active memory. Until `ballast confirm-setting %s`, all memory "
        "that a VM has consumed must be free on its destination, as before",
        setting ? setting : "", p->mem_overcommit > 1 ? times : "reservation", setting ? setting : "");
    xstrset(&e->unconfirmed, setting ? text : NULL);
}

void reclaim_confirm_recall(struct engine *e, const char *note)
{
    if (note)
        wait_for_person(e, true);
}

void reclaim_confirm_configured(struct engine *e)
{
    if (e->unconfirmed)
        wait_for_person(e, true);
}

void reclaim_confirm_fill(const struct engine *e, struct inventory *inv)
{
    for (size_t i = 0; e->unconfirmed && i < inv->n_vms; i++)
        inv->vms[i].is.no_reclaim = inv->vms[i].is.state == VM_ON;
}

int engine_confirm_setting(struct engine *e, const char *setting, const char *by, instant_s now,
                           struct err *err)
{
    const char *waits = e->unconfirmed ? setting_of(&e->settings.policy) : NULL;
    char text[TEXT_MAX];

    if (!waits || strcmp(setting, waits) != 0)
        return err_set(err, -EINVAL, "%.100s waits for no confirmation%s%s", setting,
                       waits ? "; this setting does: " : "", waits ? waits : "");
    (void)snprintf(text, sizeof text,
                   "%s confirmed that %s lets the hypervisor reclaim idle memory for moves", by, setting);
    wait_for_person(e, false);
    engine_tell_change(e, text, by, now);
    e->passes->next = now;
    engine_tick(e, now);
    return e->persist->notes_dirty ? admin_command_not_stored(e, "confirmed", err) : 0;
}
