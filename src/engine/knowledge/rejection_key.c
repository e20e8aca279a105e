/* rejection_key.c: the purpose of a rejected move as a text. */
#include "engine/knowledge/rejection_key.h"

#include "engine/knowledge/failed_moves.h"

#include <ballast/snapshot.h>

#include <stdio.h>
#include <string.h>

static const char mark[] = "\nrejected ";

const char *rejection_key(const struct action_record *r, char ret[REJECTION_KEY_MAX])
{
    bool is_own = r->kind == ACTION_MIGRATE && !failed_moves_empties_host(r) &&
                  r->reason != REASON_CONSOLIDATE && r->reason != REASON_HIGH_UTILIZATION &&
                  r->reason != REASON_PREREQUISITE && r->reason != REASON_ASKED;

    (void)snprintf(ret, REJECTION_KEY_MAX, "%s%s", mark, reason_name(reason_purpose(r->reason)));
    return is_own ? ret : "";
}

const char *rejection_key_reason(const char *key)
{
    return strncmp(key, mark, strlen(mark)) == 0 ? key + strlen(mark) : NULL;
}
