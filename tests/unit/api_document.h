/* api_document.h: descriptions of interfaces (conf/openapi.json, conf/asyncapi.json): made by a unit test
 * from the tables of the program and the schemas of conf/schema, printed by it, and compared with the file.
 */
#ifndef BALLAST_TESTS_API_DOCUMENT_H
#define BALLAST_TESTS_API_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>

/* The $defs of conf/schema/NAME.json; fails the test without. The caller owns it. */
json_t *api_document_definitions(const char *name);

/* A definition; one that only refers to another one of its file is that one. Borrowed. */
json_t *api_document_definition(json_t *of, const char *name);

/* {"$ref": ...} */
json_t *api_document_reference(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The document on lines of readable length. Free it. */
char *api_document_text(const json_t *document);

/* Fails unless conf/FILE is this document. made_by: the command that prints it. */
void api_document_compare(const json_t *document, const char *file, const char *made_by);

#endif
