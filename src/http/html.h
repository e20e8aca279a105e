/* html.h: text and small figures as HTML, for pages that the service makes itself.
 *
 * All text from data goes through html_text(): names of VMs and hosts are whatever their owners have typed.
 * It is safe as the text of an element and as the value of an attribute in double quotes. */
#ifndef BALLAST_HTTP_HTML_H
#define BALLAST_HTTP_HTML_H

#include "base/strbuf.h"

/* & < > " ' are escaped. Controls, marks that change the direction of writing or end a line, and bytes that
 * are no UTF-8, become U+FFFD. NULL: nothing. */
void html_text(struct strbuf *out, const char *text);

/* A name, in an element that keeps its direction of writing to itself. */
void html_name(struct strbuf *out, const char *name);

#endif
