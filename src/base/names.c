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
NAME_DEFINE(role, ROLES)
