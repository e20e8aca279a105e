// Lints an OpenAPI or AsyncAPI document with all of Redocly's rules but those below, warnings as errors. Names each finding; exit code 1: there are some.
//
//   node dashboard/test/lint_api.mjs DOCUMENT.json
import { createConfig, lint } from "@redocly/openapi-core";

const rules = {
  "boolean-parameter-prefixes": "off", // a parameter has the name that the request's field has at the socket
  "channels-kebab-case": "off", // a topic has the event's or command's name, with underlines
  "info-contact": "off", // the project has no address for questions
  "info-license-url": "off", // 3.1 has an identifier instead, and allows one of them
  "operation-description": "off", // the summary says all; fields and replies have their own
  "path-segment-plural": "off", // a path also names what there is one of, and what is done
  "required-string-property-missing-min-length": "off", // a required text may be empty
  "scalar-property-missing-example": "off", // formats, words and limits say more; tools make examples of them
  "response-mime-type": {
    severity: "error",
    allowedValues: ["application/json", "application/problem+json", "text/plain", "text/html", "text/event-stream", "*/*"],
  },
};
const config = await createConfig({ extends: ["all"], rules });
const findings = await lint({ ref: process.argv[2], config });

for (const { ruleId, severity, message, location } of findings)
  console.log(`${location[0]?.pointer ?? ""}: ${severity} ${ruleId}: ${message}`);
process.exit(findings.length > 0 ? 1 : 0);
