/* names.c: the functions of every word list in names.h. */
#include <ballast/names.h>

#include "base/name_define.h"

NAME_DEFINE(host_state, HOST_STATES)
NAME_DEFINE(failure_detection, FAILURE_DETECTIONS)
NAME_DEFINE(vm_state, VM_STATES)
NAME_DEFINE(offer_kind, OFFER_KINDS)
NAME_DEFINE(vm_kind, VM_KINDS)
NAME_DEFINE(automation, AUTOMATIONS)
NAME_DEFINE(rule_kind, RULE_KINDS)
NAME_DEFINE(rule_origin, RULE_ORIGINS)
NAME_DEFINE(ha_policy, HA_POLICIES)
NAME_DEFINE(mem_admission, MEM_ADMISSIONS)
NAME_DEFINE(objective, OBJECTIVES)
NAME_DEFINE(balancer, BALANCERS)
NAME_DEFINE(search_kind, SEARCHES)
NAME_DEFINE(action_kind, ACTION_KINDS)
NAME_DEFINE(reason, REASONS)
NAME_DEFINE(fault_code, FAULT_CODES)
NAME_DEFINE(verdict, VERDICTS)
NAME_DEFINE(check, CHECKS)
NAME_DEFINE(power_check, POWER_CHECKS)
NAME_DEFINE(action_state, ACTION_STATES)
NAME_DEFINE(change_kind, CHANGE_KINDS)
NAME_DEFINE(alike_days, ALIKE_DAYS)
NAME_DEFINE(uneven, UNEVENS)
NAME_DEFINE(expression_operator, EXPRESSION_OPERATORS)
NAME_DEFINE(expression_variable, EXPRESSION_VARIABLES)
NAME_DEFINE(normalisation, NORMALISATIONS)
NAME_DEFINE(fit_use, FIT_USES)
NAME_DEFINE(answer_failure, ANSWER_FAILURES)
NAME_DEFINE(stage_needs, STAGE_NEEDS)
NAME_DEFINE(role, ROLES)
NAME_DEFINE(four_eyes_action, FOUR_EYES_ACTIONS)
NAME_DEFINE(event_kind, EVENTS)

const char *names_event_shown(const char *word)
{
    if (strcmp(word, event_kind_name(EVENT_PAUSED)) == 0)
        return "paused";
    return strcmp(word, event_kind_name(EVENT_RESUMED)) == 0 ? "resumed" : word;
}
