/* Calls the reports of faults that exist before the pass decides anything. */
#include "core/plan/faults.h"

#include "core/plan/findings.h"
#include "core/plan/plan.h"

/* Hosts of a shared store matter only where hosts would be put to standby. */
static void report_storage(struct pass *p)
{
    const struct snapshot *s = p->snap;
    uint32_t vsan = 0;
    uint32_t other = 0;

    for (uint32_t i = 0; i < s->n_hosts && p->policy.dpm.enabled; i++) {
        vsan += s->hosts[i].is.vsan;
        other += s->hosts[i].is.serves_storage && !s->hosts[i].is.vsan;
    }
    if (vsan > 0)
        plan_fault(p, FAULT_VSAN, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_VSAN,
                                    .figures = {{FIGURE_HOSTS, vsan}, {FIGURE_HOSTS_ALL, s->n_hosts}}});
    if (other > 0)
        plan_fault(p, FAULT_SERVES_STORAGE, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_SERVES_STORAGE,
                                    .figures = {{FIGURE_HOSTS, other}, {FIGURE_HOSTS_ALL, s->n_hosts}}});
}

/* Managers that work against this one, and rules that are not known. */
static void report_conflicts(struct pass *p)
{
    const struct snapshot *s = p->snap;

    if (s->conflicts.balancer)
        plan_fault(p, FAULT_OTHER_BALANCER, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_OTHER_BALANCER});
    if (s->conflicts.power)
        plan_fault(p, FAULT_OTHER_POWER, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_OTHER_POWER});
    if (s->labels_unread)
        plan_fault(p, FAULT_LABELS_UNREAD, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_LABELS_UNREAD, .peer = s->labels_unread});
    for (uint32_t i = 0; i < s->source_faults.n; i++)
        plan_fault(p, FAULT_SOURCE, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_SOURCE_FAULT, .peer = s->source_faults.items[i]});
    for (uint32_t i = 0; i < s->ha_configured.conflicts.n; i++)
        plan_fault(p, FAULT_SPARE_MISSING, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_SOURCE_FAULT, .peer = s->ha_configured.conflicts.items[i]});
    report_storage(p);
}

void plan_report_state(struct pass *p)
{
    const struct snapshot *s = p->snap;

    plan_report_pools(p);
    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (s->hosts[i].is.state == HOST_DISCONNECTED && s->hosts[i].vms.n > 0)
            plan_fault(p, FAULT_HOST_DISCONNECTED, IX_NONE, i, IX_NONE,
                       (struct finding){.code = FIND_HOST_UNSEEN,
                                        .subjects = {{SUBJECT_HOST, i}},
                                        .figures = {{FIGURE_VMS, s->hosts[i].vms.n}}});
    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (s->hosts[i].is.power_fault)
            plan_fault(p, FAULT_POWER_METHOD, IX_NONE, i, IX_NONE,
                       (struct finding){.code = FIND_POWER_METHOD, .subjects = {{SUBJECT_HOST, i}}});
    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (host_is_distrusted(s, i))
            plan_fault(p, FAULT_HOST_DISTRUSTED, IX_NONE, i, IX_NONE, finding_of_distrust(s, i));
    plan_report_avoided(p);
    plan_report_samples(p);
    plan_report_rules(p);
    report_conflicts(p);
}
