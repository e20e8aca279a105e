/* status_page.c: writes the pages. Reading replies and answering is status_route.c's. */
#include "http/status_page.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "http/html.h"

#include <math.h>
#include <string.h>

#define ACTIONS_MOST 200 /* in a table; a browser need not show more at once */
#define HOSTS_MOST 1000
#define FAULTS_MOST 200

/* Contrasts of at least 4.5 to 1 on both grounds (WCAG 2.2, 1.4.3). */
const char status_page_style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f23;--soft:#57606a;--bad:#b3261e;--rule:#d0d7de;"
    "--link:#005a8f}"
    "@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#9aa4af;--bad:#ff8a80;"
    "--rule:#30363d;--link:#56b4e9}}"
    "body{margin:0 auto;max-width:75rem;padding:.8rem 1rem 3rem;background:var(--bg);color:var(--fg);"
    "font:1rem/1.5 system-ui,sans-serif}"
    "h1{font-size:1.4rem;margin:0}h2{font-size:1.15rem;margin:1.6rem 0 .4rem}a{color:var(--link)}"
    "p,li,td,dd{overflow-wrap:anywhere}.soft{color:var(--soft)}.bad{color:var(--bad);font-weight:600}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.8rem 0}dd{margin:0}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.2rem .8rem .2rem 0;"
    "border-bottom:1px solid var(--rule);vertical-align:top}th{font-weight:600}"
    ".n{text-align:right;white-space:nowrap}meter{width:6rem;max-width:100%}"
    "input,button{font:inherit;padding:.3rem .6rem;max-width:100%}header form{display:inline}"
    "@media(max-width:40rem){meter{display:none}.n{white-space:normal}th,td{padding-right:.4rem}}";

/* ---- members of replies ----------------------------------------------------------------------- */

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static json_int_t number_of(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* NAN: null, or none. */
static double figure_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* The reply without its envelope. */
static const json_t *status_of(const struct status_page *p)
{
    return json_object_get(p->status, "status");
}

/* ---- pieces ----------------------------------------------------------------------------------- */

static void begin(const char *title, const char *cluster, unsigned refresh_s, struct strbuf *out)
{
    strbuf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    if (refresh_s > 0)
        strbuf_printf(out, "<meta http-equiv=\"refresh\" content=\"%u\">\n", refresh_s);
    strbuf_puts(out, "<title>");
    html_text(out, title);
    if (cluster) {
        strbuf_puts(out, " - ");
        html_text(out, cluster);
    }
    strbuf_printf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", status_page_style);
}

static void end(struct strbuf *out)
{
    strbuf_puts(out, "</body>\n</html>\n");
}

static void put_duration(struct strbuf *out, instant_s s)
{
    if (s < 120)
        strbuf_printf(out, "%lld s", (long long)s);
    else if (s < 7200)
        strbuf_printf(out, "%lld min", (long long)s / 60);
    else if (s < 172800)
        strbuf_printf(out, "%lld h", (long long)s / 3600);
    else
        strbuf_printf(out, "%lld d", (long long)s / 86400);
}

/* "2026-01-01T00:00:00Z, 12 s ago" */
static void put_instant(struct strbuf *out, const char *at, instant_s now)
{
    instant_s t;

    html_text(out, at);
    if (!at || rfc3339_parse(at, &t) < 0)
        return;
    strbuf_puts(out, t > now ? ", in " : ", ");
    put_duration(out, t > now ? t - now : now - t);
    if (t <= now)
        strbuf_puts(out, " ago");
}

static void begin_entry(struct strbuf *out, const char *name)
{
    strbuf_printf(out, "<dt>%s</dt><dd>", name);
}

static void end_entry(struct strbuf *out)
{
    strbuf_puts(out, "</dd>\n");
}

static void put_figure(struct strbuf *out, double v, const char *unit)
{
    if (isnan(v))
        strbuf_puts(out, "unknown");
    else
        strbuf_printf(out, "%.0f %s", v, unit);
}

static void put_four(struct strbuf *out, double v)
{
    if (isnan(v))
        strbuf_puts(out, "unknown");
    else
        strbuf_printf(out, "%.4f", v);
}

/* ---- the state of the service ----------------------------------------------------------------- */

static void put_source(const json_t *s, instant_s now, struct strbuf *out)
{
    const json_t *source = json_object_get(s, "source");
    const char *state = text_of(source, "state");

    begin_entry(out, "Source");
    if (state && strcmp(state, "up") == 0)
        strbuf_printf(out, "connected, inventory of %lld s ago", (long long)number_of(source, "seen_age_s"));
    else
        html_text(out, state && strcmp(state, "lost") == 0 ? "lost since " : "not read yet");
    if (state && strcmp(state, "lost") == 0)
        put_instant(out, text_of(source, "since"), now);
    end_entry(out);
}

static void put_pass(const json_t *s, instant_s now, struct strbuf *out)
{
    const json_t *pass = json_object_get(s, "pass");

    begin_entry(out, "Last pass");
    if (json_is_object(pass)) {
        strbuf_printf(out, "%lld, ", (long long)number_of(pass, "id"));
        put_instant(out, text_of(pass, "time"), now);
    } else {
        strbuf_puts(out, "none yet");
    }
    if (text_of(s, "next_pass")) {
        strbuf_puts(out, "; the next at ");
        put_instant(out, text_of(s, "next_pass"), now);
    }
    end_entry(out);
    begin_entry(out, "Imbalance");
    put_four(out, figure_of(pass, "imbalance"));
    strbuf_puts(out, ", target ");
    put_four(out, figure_of(pass, "target"));
    strbuf_puts(out, "; CPU ");
    put_four(out, figure_of(pass, "imbalance_cpu"));
    strbuf_puts(out, ", memory ");
    put_four(out, figure_of(pass, "imbalance_mem"));
    end_entry(out);
}

static void put_power(const json_t *s, instant_s now, struct strbuf *out)
{
    const json_t *power = json_object_get(s, "power");
    const json_t *asleep = json_object_get(s, "asleep");
    const json_t *h;
    size_t i;

    begin_entry(out, "Power");
    if (json_is_object(power)) {
        put_figure(out, figure_of(power, "watts"), "W");
        strbuf_puts(out, "; with all hosts on ");
        put_figure(out, figure_of(power, "all_on_w"), "W");
        if (number_of(power, "hosts_unknown") > 0)
            strbuf_printf(out, "; %lld hosts of unknown power", (long long)number_of(power, "hosts_unknown"));
    } else {
        strbuf_puts(out, "unknown");
    }
    end_entry(out);
    begin_entry(out, "In standby");
    if (json_array_size(asleep) == 0)
        strbuf_puts(out, "no host");
    json_array_foreach(asleep, i, h)
    {
        strbuf_puts(out, i > 0 ? "; " : "");
        html_name(out, text_of(h, "host_name"));
        strbuf_puts(out, " since ");
        put_instant(out, text_of(h, "since"), now);
    }
    end_entry(out);
}

static void put_service(const json_t *s, instant_s now, struct strbuf *out)
{
    strbuf_puts(out, "<dl>\n");
    put_source(s, now, out);
    begin_entry(out, "Automation");
    html_text(out, text_of(s, "automation"));
    if (json_is_true(json_object_get(s, "frozen"))) {
        strbuf_puts(out, ", <span class=\"bad\">paused</span> by ");
        html_name(out, text_of(s, "frozen_by"));
        strbuf_puts(out, " since ");
        put_instant(out, text_of(s, "frozen_since"), now);
    }
    end_entry(out);
    put_pass(s, now, out);
    begin_entry(out, "Cluster");
    strbuf_printf(out, "%lld hosts, %lld VMs", (long long)number_of(s, "hosts"),
                  (long long)number_of(s, "vms"));
    end_entry(out);
    put_power(s, now, out);
    strbuf_puts(out, "</dl>\n");
}

/* ---- faults ----------------------------------------------------------------------------------- */

/* What does not stand on the page. */
static void put_more(struct strbuf *out, size_t n, size_t most)
{
    if (n > most)
        strbuf_printf(out, "<p>And %zu more.</p>\n", n - most);
}

static void put_fault(struct strbuf *out, size_t *n, const char *what, const char *text)
{
    if (!text || (*n)++ >= FAULTS_MOST)
        return;
    if (*n == 1)
        strbuf_puts(out, "<ul>\n");
    strbuf_puts(out, "<li class=\"bad\">");
    html_text(out, what);
    html_text(out, text);
    strbuf_puts(out, "</li>\n");
}

/* Receivers of events that cannot be reached. */
static void put_unheard(const json_t *s, size_t *n, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    const json_t *broker = json_object_get(s, "mqtt");
    const json_t *target;
    size_t i;

    if (json_is_object(broker) && !json_is_true(json_object_get(broker, "connected"))) {
        const char *since = text_of(broker, "since");
        const char *error = text_of(broker, "error");

        strbuf_printf(&text, "%s%s%s%s%s; %lld events wait", text_of(broker, "url"), since ? " since " : "",
                      since ? since : "", error ? ": " : "", error ? error : "",
                      (long long)number_of(broker, "unsent"));
        put_fault(out, n, "The MQTT broker is not connected: ", text.text);
    }
    json_array_foreach(json_object_get(s, "alarms"), i, target)
    {
        const char *since = text_of(target, "failing_since");
        const char *error = text_of(target, "error");

        if (!since)
            continue;
        strbuf_clear(&text);
        strbuf_printf(&text, "%s since %s%s%s; %lld events wait", text_of(target, "target"), since,
                      error ? ": " : "", error ? error : "", (long long)number_of(target, "waiting"));
        put_fault(out, n, "Alarms are not delivered to ", text.text);
    }
}

static void put_failing_units(const json_t *s, size_t *n, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    const json_t *x;
    size_t i;

    json_array_foreach(json_object_get(s, "failing_units"), i, x)
    {
        const char *error = text_of(x, "error");

        strbuf_clear(&text);
        strbuf_printf(&text, "%s since %s%s%s", text_of(x, "unit"), text_of(x, "since"), error ? ": " : "",
                      error ? error : "");
        put_fault(out, n, "No answer of the external unit ", text.text);
    }
}

static void put_faults(const json_t *s, struct strbuf *out)
{
    const json_t *f;
    size_t i;
    size_t n = 0;

    strbuf_puts(out, "<h2>Faults</h2>\n");
    put_fault(out, &n, "The source cannot be read: ", text_of(json_object_get(s, "source"), "error"));
    put_fault(out, &n, "The last pass failed: ", text_of(s, "pass_error"));
    put_fault(out, &n, "The store fails: ", text_of(s, "store_error"));
    put_fault(out, &n, "", text_of(json_object_get(s, "store"), "warning"));
    put_failing_units(s, &n, out);
    put_unheard(s, &n, out);
    json_array_foreach(json_object_get(s, "faults"), i, f)
    {
        put_fault(out, &n, "", text_of(f, "text"));
    }
    json_array_foreach(json_object_get(s, "configuration"), i, f)
    {
        put_fault(out, &n, "Configuration: ", json_is_string(f) ? json_string_value(f) : text_of(f, "text"));
    }
    json_array_foreach(json_object_get(s, "logins_paused"), i, f)
    {
        put_fault(out, &n,
                  "A password was refused, the account is not used for now: ", text_of(f, "account"));
    }
    strbuf_puts(out, n > 0 ? "</ul>\n" : "<p>None.</p>\n");
    put_more(out, n, FAULTS_MOST);
}

/* ---- actions ---------------------------------------------------------------------------------- */

static const struct {
    const char *kind, *words;
} kinds[] = {
    {"migrate", "Move"},
    {"power_on", "Power on"},
    {"power_off", "Put to standby"},
    {"place", "Place"},
    {"enter_maintenance", "Enter maintenance"},
    {"exit_maintenance", "Exit maintenance"},
};

static void put_title(const json_t *a, struct strbuf *out)
{
    const char *kind = text_of(a, "action");
    const char *words = kind;

    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].kind, kind) == 0)
            words = kinds[i].words;
    }
    html_text(out, words);
    strbuf_puts(out, " ");
    html_name(out, text_of(a, "vm") ? text_of(a, "vm_name") : text_of(a, "host_name"));
    if (text_of(a, "from")) {
        strbuf_puts(out, " from ");
        html_name(out, text_of(a, "from_name"));
    }
    if (text_of(a, "to")) {
        strbuf_puts(out, text_of(a, "from") ? " to " : " on ");
        html_name(out, text_of(a, "to_name"));
    }
}

static bool is_in_flight(const char *state)
{
    return strcmp(state, "approved") == 0 || strcmp(state, "starting") == 0 ||
           strcmp(state, "running") == 0 || strcmp(state, "verifying") == 0;
}

static void put_state(const json_t *a, instant_s now, struct strbuf *out)
{
    html_text(out, text_of(a, "state"));
    if (text_of(a, "started")) {
        strbuf_puts(out, " since ");
        put_instant(out, text_of(a, "started"), now);
    }
    if (text_of(a, "approved_by")) {
        strbuf_puts(out, "; approved by ");
        html_name(out, text_of(a, "approved_by"));
    }
}

/* Those that wait, or those in flight: with the reason, or how far they are. */
static void put_actions(const struct status_page *p, bool waiting, instant_s now, struct strbuf *out)
{
    const json_t *a;
    size_t n = 0;
    size_t i;

    json_array_foreach(json_object_get(p->recommendations, "recommendations"), i, a)
    {
        const char *state = text_of(a, "state");

        if (!state || (waiting ? strcmp(state, "recommended") != 0 : !is_in_flight(state)) ||
            n++ >= ACTIONS_MOST)
            continue;
        if (n == 1)
            strbuf_printf(out, "<table>\n<tr><th>Action</th><th>%s</th></tr>\n", waiting ? "Why" : "State");
        strbuf_puts(out, "<tr><td>");
        put_title(a, out);
        strbuf_puts(out, "</td><td>");
        if (waiting) {
            html_text(out, text_of(a, "text") ? text_of(a, "text") : text_of(a, "reason"));
            if (text_of(a, "why")) { /* a first approval, where it takes two people */
                strbuf_puts(out, "<br>");
                html_text(out, text_of(a, "why"));
            }
        } else {
            put_state(a, now, out);
        }
        strbuf_puts(out, "</td></tr>\n");
    }
    strbuf_puts(out, n > 0 ? "</table>\n" : "<p>None.</p>\n");
    put_more(out, n, ACTIONS_MOST);
}

/* ---- hosts ------------------------------------------------------------------------------------ */

static double load_of(const json_t *host, const char *resource)
{
    return figure_of(json_object_get(host, resource), "load");
}

/* Of the hosts that are on. NAN: none. */
static double mean_of(const json_t *hosts, const char *resource)
{
    const json_t *h;
    double sum = 0;
    size_t n = 0;
    size_t i;

    json_array_foreach(hosts, i, h)
    {
        const char *state = text_of(h, "state");
        const double load = load_of(h, resource);

        if (!state || strcmp(state, "on") != 0 || isnan(load))
            continue;
        sum += load;
        n++;
    }
    return n > 0 ? sum / (double)n : NAN;
}

static void put_load(struct strbuf *out, double load, double mean, double target)
{
    if (isnan(load)) {
        strbuf_puts(out, "<td class=\"n\">-</td>");
        return;
    }
    const bool far = !isnan(mean) && !isnan(target) && load - mean > target;

    strbuf_printf(
        out,
        "<td class=\"n\"><meter aria-hidden=\"true\" min=\"0\" max=\"1\" value=\"%.2f\"></meter> %s%.0f %%",
        fmin(load, 1), far ? "<span class=\"bad\">" : "", 100 * load);
    if (!isnan(mean))
        strbuf_printf(out, " (%+.0f)", 100 * (load - mean));
    strbuf_printf(out, "%s</td>", far ? " above</span>" : "");
}

static void put_state_of_host(const json_t *h, struct strbuf *out)
{
    const char *state = text_of(h, "state");

    for (const char *s = state ? state : ""; *s; s++)
        strbuf_add(out, *s == '_' ? " " : s, 1);
    if (json_is_true(json_object_get(h, "quarantine")))
        strbuf_puts(out, ", in quarantine");
    if (json_is_object(json_object_get(h, "waking")))
        strbuf_puts(out, ", being woken");
    if (text_of(h, "wake_failed_at"))
        strbuf_puts(out, ", <span class=\"bad\">its last wake failed</span>");
}

static void put_hosts(const struct status_page *p, struct strbuf *out)
{
    const json_t *hosts = json_object_get(p->hosts, "hosts");
    const double target = figure_of(json_object_get(status_of(p), "pass"), "target");
    const double cpu = mean_of(hosts, "cpu");
    const double mem = mean_of(hosts, "mem");
    const json_t *h;
    size_t i;

    strbuf_puts(out,
                "<h2>Hosts</h2>\n<p class=\"soft\">Load: what the VMs are entitled to, of the capacity; in "
                "brackets the "
                "points above or below the mean of the hosts that are on. Above: by more than the target "
                "imbalance.</p>\n"
                "<table>\n<tr><th>Host</th><th>State</th><th class=\"n\">VMs</th><th class=\"n\">CPU</th>"
                "<th class=\"n\">Memory</th></tr>\n");
    json_array_foreach(hosts, i, h)
    {
        if (i == HOSTS_MOST)
            break;
        strbuf_puts(out, "<tr><td>");
        html_name(out, text_of(h, "name"));
        strbuf_puts(out, "</td><td>");
        put_state_of_host(h, out);
        strbuf_printf(out, "</td><td class=\"n\">%lld</td>", (long long)number_of(h, "vms"));
        put_load(out, load_of(h, "cpu"), cpu, target);
        put_load(out, load_of(h, "mem"), mem, target);
        strbuf_puts(out, "</tr>\n");
    }
    strbuf_puts(out, "</table>\n");
    put_more(out, json_array_size(hosts), HOSTS_MOST);
}

/* ---- pages ------------------------------------------------------------------------------------ */

static void put_header(const struct status_page *p, struct strbuf *out)
{
    strbuf_puts(out, "<header>\n<h1>Ballast: ");
    html_name(out, p->cluster);
    strbuf_puts(out, "</h1>\n<p class=\"soft\">");
    html_name(out, p->who);
    strbuf_printf(out, ", %s. ", p->role);
    if (p->refresh_s > 0)
        strbuf_printf(out, "Read anew every %u s; <a href=\"/status?refresh=0\">stop that</a>. ",
                      p->refresh_s);
    else
        strbuf_printf(out, "<a href=\"/status\">Read it anew every %d s</a>. ", STATUS_PAGE_REFRESH_S);
    strbuf_puts(out, "<a href=\"/\">The dashboard</a> has more.</p>\n");
    if (p->csrf) {
        strbuf_puts(out, "<form method=\"post\" action=\"/status/sign-out\"><input type=\"hidden\" "
                         "name=\"csrf_token\" value=\"");
        html_text(out, p->csrf);
        strbuf_puts(out, "\"><input type=\"submit\" value=\"Sign out\"></form>\n");
    }
    strbuf_puts(out, "</header>\n");
}

void status_page_write(const struct status_page *p, struct strbuf *out)
{
    const json_t *s = status_of(p);
    instant_s now = 0;

    (void)rfc3339_parse(text_of(s, "time") ? text_of(s, "time") : "", &now);
    begin("Ballast", p->cluster, p->refresh_s, out);
    put_header(p, out);
    strbuf_puts(out, "<main>\n");
    put_service(s, now, out);
    put_faults(s, out);
    strbuf_puts(out, "<h2>Waiting for a person</h2>\n");
    put_actions(p, true, now, out);
    strbuf_puts(out, "<h2>In progress</h2>\n");
    put_actions(p, false, now, out);
    put_hosts(p, out);
    strbuf_puts(out, "<p class=\"soft\">As of ");
    html_text(out, text_of(s, "time"));
    strbuf_puts(out, ", Ballast ");
    html_text(out, text_of(s, "version"));
    strbuf_puts(out, ".</p>\n</main>\n");
    end(out);
}

static void put_problem(const char *problem, struct strbuf *out)
{
    strbuf_puts(out, "<p class=\"bad\" role=\"alert\">");
    html_text(out, problem);
    strbuf_puts(out, "</p>\n");
}

void status_page_write_sign_in(const char *cluster, const char *problem, struct strbuf *out)
{
    begin("Ballast: sign in", cluster, 0, out);
    strbuf_puts(out, "<main>\n<h1>Ballast: sign in</h1>\n");
    if (problem)
        put_problem(problem, out);
    strbuf_puts(out,
                "<form method=\"post\" action=\"/status\">\n<p><label for=\"token\">Token</label><br>\n"
                "<input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"off\" required></p>\n"
                "<p><input type=\"submit\" value=\"Sign in\"></p>\n</form>\n"
                "<p class=\"soft\">An administrator makes one with <code>ballast token create NAME --role "
                "viewer</code>.</p>\n"
                "</main>\n");
    end(out);
}

void status_page_write_problem(const char *title, const char *problem, struct strbuf *out)
{
    begin(title, NULL, 0, out);
    strbuf_puts(out, "<main>\n<h1>");
    html_text(out, title);
    strbuf_puts(out, "</h1>\n");
    put_problem(problem, out);
    strbuf_puts(out, "<p><a href=\"/status\">Back to the status page</a></p>\n</main>\n");
    end(out);
}
