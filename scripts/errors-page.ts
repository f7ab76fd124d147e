import { errorCodes, errors } from '@simplane/contract';

export function errorsPage(): string {
  const sections = errorCodes.map((code) => {
    const { type, status, meaning, remedy } = errors[code];
    return `### ${code}\n\n**${status}** · \`${type}\`\n\n${meaning}\n\nWhat to do: ${remedy}\n`;
  });
  return `<!-- Generated from contract/src/errors.ts by \`npm run generate\`; edit there. -->

# Errors

Every error has this form, whatever the \`Accept\` header of the request:

\`\`\`json
{
  "error": {
    "type": "invalid_request_error",
    "code": "parameter_invalid",
    "message": "limit must be at least 1; got 0.",
    "param": "limit",
    "doc_url": "http://127.0.0.1:4000/docs#error-parameter_invalid",
    "request_id": "req_01m7egwb9pevp8eneqjznbbbez"
  }
}
\`\`\`

Branch on \`code\`: the list below is closed and a code never changes its meaning. \`message\` is for people and may
change. \`param\` is set when one parameter is invalid. Include \`request_id\` when you ask for help; it is also in the
\`Request-Id\` header of every response, and \`GET /v1/requests/{id}\` shows the request ([audit.md](audit.md#the-request-log)).

Checks run in this order: route, API key, rate limit, parsing, idempotency, validation, the operation itself. So a reused
\`Idempotency-Key\` is reported before an invalid parameter.

## Codes

${sections.join('\n')}`;
}
