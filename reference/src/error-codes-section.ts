import { errorCodes, errors } from '@simplane/contract';
import { heading } from './heading.ts';
import { type Html, html } from './html.ts';
import { inline } from './markdown.ts';

/** All error codes. `doc_url` links to these anchors. */
export function errorCodesSection(): Html {
  const sorted = [...errorCodes].sort((a, b) => errors[a].status - errors[b].status);
  return html`<section id="error-codes" class="wide">
${heading(2, 'error-codes', 'Error codes')}
<p>The list is closed: a code is never reused with another meaning.</p>
<table class="codes">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">What it means</th><th scope="col">What to do</th></tr></thead>
<tbody>${sorted.map((code) => {
    const { status, type, meaning, remedy } = errors[code];
    return html`
<tr id="error-${code}"><td><span class="status">${status}</span></td><th scope="row"><a href="#error-${code}"><code>${code}</code></a><small>${type}</small></th><td>${inline(meaning)}</td><td>${inline(remedy)}</td></tr>`;
  })}</tbody>
</table>
</section>`;
}
