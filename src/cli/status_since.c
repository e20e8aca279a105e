/* ballast status --since: a night in about ten lines of a terminal. The service counts. */
#include "cli/status_since.h"

#include "base/rfc3339.h"
#include "cli/client.h"
#include "cli/input.h"
#include "render/summary.h"

enum exit_code status_since(const char *socket, const char *since, enum cli_format format, struct arena *a,
                            struct strbuf *out)
{
    char time[RFC3339_MAX];
    instant_s from = 0;
    enum exit_code code = cli_parse_time("since", since, &from);

    if (code != EXIT_DONE)
        return code;
    return client_show(socket, format,
                       json_pack("{s:s, s:s}", "command", "summary", "since", rfc3339_format(from, time)),
                       "summary", summary_text, a, out);
}
