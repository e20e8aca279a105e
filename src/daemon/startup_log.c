/* startup_log.c: the log lines at a start, after a reload, and before the end. */
#include "daemon/startup_log.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "plugins/power_methods.h"

#include <string.h>

void startup_log_settings(const struct config *c)
{
    log_notice("ballastd %s: cluster %s, source %s, automation %s, a pass every %lld s; listening on %s",
               BALLAST_VERSION, c->cluster, c->source.kind, automation_name(c->policy.automation),
               (long long)c->policy.interval_s, c->socket);
}

static void log_schedule_zone(const struct config *c)
{
    if (c->schedule.n_windows > 0 || c->schedule.n_ready_by > 0)
        log_notice("dpm.windows and dpm.ready_by are in the zone %s%s; `ballast schedule` shows what comes",
                   c->schedule.zone, c->dpm_time_zone ? "" : ", the system's own");
}

void startup_log_unconfirmed(const struct engine *e)
{
    struct engine_status st;

    engine_status(e, &st);
    if (st.unconfirmed)
        log_warning("%s", st.unconfirmed);
}

void startup_log_standby_hosts(const struct config *c, const struct engine *e)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct asleep *list;
    size_t n = engine_asleep(e, &a, &list);
    size_t ours = 0;

    for (size_t i = 0; i < n; i++) {
        struct engine_waking waking;

        ours += list[i].ours && !engine_waking(e, list[i].host, &waking);
    }
    if (ours > 0 && !c->policy.dpm.enabled)
        log_warning(
            "dpm.enabled is false, and %zu host%s that Ballast has put to standby: nothing wakes %s but "
            "`ballast wake HOST`; `ballast status` lists them",
            ours, ours == 1 ? " sleeps" : "s sleep", ours == 1 ? "it" : "them");
}

void startup_log_warnings(const struct config *c, const struct power_config *power)
{
    const unsigned operations = power->inner ? power->inner->operations : 0;
    const unsigned both = 1u << OPERATION_STANDBY | 1u << OPERATION_WAKE;

    for (size_t i = 0; i < c->n_warnings; i++)
        log_warning("%s", c->warnings[i]);
    log_schedule_zone(c);
    for (size_t i = 0; i < power->n_hosts; i++) {
        struct err err = {0};

        if (power_methods_check_network(&power->hosts[i], &err) < 0)
            log_warning("%s", err.text);
    }
    if (c->policy.dpm.enabled && power->n_hosts == 0 && (operations & both) != both)
        log_warning("dpm.enabled: source.kind %s can neither put hosts to standby nor wake them, and "
                    "power.hosts is empty: power changes are recommended, not carried out",
                    c->source.kind);
}

void startup_log_reload(const struct config_change *changes, size_t n, bool power_waits, struct engine *e,
                        const char *by, instant_s now)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    size_t later = 0;

    for (size_t i = 0; i < n; i++) {
        const enum config_effect effect = config_change_effect(&changes[i], power_waits);
        const char *when = config_effect_meaning(effect);

        later += effect == CONFIG_NEXT_START || effect == CONFIG_AFTER_POWER;
        strbuf_clear(&text);
        if (changes[i].secret)
            strbuf_printf(&text, "%s: %s changed%s", changes[i].key->name,
                          changes[i].key->type == FIELD_OWN ? "what is not shown here has"
                                                            : "the contents of the file have",
                          when);
        else
            strbuf_printf(&text, "%s: %s -> %s%s", changes[i].key->name,
                          changes[i].from ? changes[i].from : "(none)",
                          changes[i].to ? changes[i].to : "(none)", when);
        strbuf_printf(&text, "; by %s", by);
        engine_tell_change(e, text.text, by, now);
    }
    log_notice("configuration reloaded by %s, %zu change%s", by, n, n == 1 ? "" : "s");
    if (later > 0)
        log_warning("%zu of the changes %s not in force yet: see above", later, later == 1 ? "is" : "are");
}

void startup_log_unfinished(const struct engine *e)
{
    struct engine_status st;

    engine_status(e, &st);
    uint32_t n = st.actions[ACTION_STARTING] + st.actions[ACTION_RUNNING] + st.actions[ACTION_VERIFYING];

    if (n > 0)
        log_notice("%u action%s under way at the hypervisor; the next start follows %s to the end", n,
                   n == 1 ? " is" : "s are", n == 1 ? "it" : "them");
}
