import { accountScopes, apiVersions, currentApiVersion, pageSize } from '@simplane/contract';
import { codeBlock, jsonCode, shellCode } from './code-block.ts';
import { quote } from './curl-sample.ts';
import type { OpenApiDocument, Schema } from './document.ts';
import type { Guide } from './guide.ts';
import { type Html, html } from './html.ts';
import { fieldList } from './schema-table.ts';
import { signaturesGuide } from './signatures-guide.ts';

/** Topics common to all operations, shown before them. */
export function guides(document: OpenApiDocument, baseUrl: string): Guide[] {
  return [
    authentication(baseUrl),
    idempotency(baseUrl),
    pagination(baseUrl),
    versions(baseUrl),
    errorShape(document),
    signaturesGuide(),
  ];
}

function authentication(baseUrl: string): Guide {
  return {
    anchor: 'authentication',
    title: 'Authentication',
    text: html`<p>Send your API key as a bearer token with every request. Keys starting with <code>sp_test_</code> work only in a sandbox, keys starting with <code>sp_live_</code> only in a live deployment.</p>
<p>A key has one or more scopes: ${list(accountScopes)}. Each operation below names the scope it requires. <code>write</code> includes <code>install</code>, which gives access to activation codes; <code>read</code> does not. A key without the required scope gets <a href="#error-scope_missing"><code>scope_missing</code></a>.</p>
<p>Keep keys on your servers. Simplane stores only a hash and cannot show a key again. Web pages cannot call <code>/v1</code> (there are no CORS headers), because everyone who opens a page can read a key in it.</p>
<p>Set your key in the shell once, and the samples on this page work as pasted, in bash and zsh. The TypeScript samples use the SDK, whose README says how to install it; the Python samples use only the standard library.</p>`,
    samples: html`${codeBlock('Set the key', shellCode("export SIMPLANE_API_KEY='sp_test_…'"))}<p class="hint">Put in your own key. A sandbox writes its key to <code>.simplane/sandbox-api-key</code>.</p>${codeBlock(
      'Check that it works',
      shellCode(command(baseUrl, '/v1/me')),
    )}`,
  };
}

function idempotency(baseUrl: string): Guide {
  const body = quote(JSON.stringify({ product_id: 'prod_europe_5gb_30d' }));
  return {
    anchor: 'idempotency',
    title: 'Idempotency',
    text: html`<p>After a timeout you cannot know whether a write took effect. Send an <code>Idempotency-Key</code> with every POST, PUT, PATCH and DELETE, and retry with the same key until you get a response. The work runs once, and each retry returns the first response with <code>Idempotent-Replayed: true</code>.</p>
<p>A key is 1 to 255 printable ASCII characters, is scoped to your account and is stored for 24 hours. Use an id of your own, such as an order number, or a random UUID that you save before sending.</p>
<p>Reusing a key for a different request returns <a href="#error-idempotency_key_reused"><code>idempotency_key_reused</code></a>. While the first request is running, a retry immediately returns <a href="#error-idempotency_in_progress"><code>idempotency_in_progress</code></a> with a <code>Retry-After</code> header.</p>
<p>The samples on this page use a fixed key, so pasting one twice is a safe retry. Change the key when you change the request.</p>`,
    samples: codeBlock(
      'Run it twice: one order',
      shellCode(
        `${command(baseUrl, '/v1/esims', '-i')} \\\n  -H 'Idempotency-Key: order-1001' \\\n  -H 'Content-Type: application/json' \\\n  -d ${body}`,
      ),
    ),
  };
}

function pagination(baseUrl: string): Guide {
  const readCursor = `sed 's/.*"next_cursor":"\\([^"]*\\)".*/\\1/'`;
  const firstPage = `NEXT_CURSOR=$(${command(baseUrl, '/v1/products?limit=3', '-s')} |\n  ${readCursor})`;
  const cursor = '--data-urlencode "starting_after=$NEXT_CURSOR"';
  const nextPage = command(baseUrl, '/v1/products?limit=3', '-G', cursor);
  return {
    anchor: 'pagination',
    title: 'Pagination',
    text: html`<p>Lists are newest first. <code>limit</code> sets the page size: ${pageSize.default} by default, ${pageSize.maximum} at most. While <code>has_more</code> is true, get the next page by passing <code>next_cursor</code> unchanged as <code>starting_after</code>, with the same filters.</p>
<p>Cursors are opaque: do not construct them or store them for long. Objects created while you paginate appear only on a new first page and never shift your pages.</p>`,
    samples: html`${codeBlock('The next page', shellCode(`${firstPage}\n${nextPage}`))}${codeBlock('A page', jsonCode({ object: 'list', data: ['…'], has_more: true, next_cursor: 'eyJhIjoiMDFrOTQifQ' }))}`,
  };
}

function versions(baseUrl: string): Guide {
  return {
    anchor: 'versions',
    title: 'Versions',
    text: html`<p>A version is a date. Your account is pinned to the version that was current when it was created, so a new version never changes your responses. To use another version for one request, send it in <code>Service-Version</code>. Every response names its version in the same header.</p>
<p>There ${apiVersions.length === 1 ? 'is one version' : `are ${apiVersions.length} versions`}: ${list(apiVersions)}. A version can gain new fields, event types and error codes, so ignore those you do not know.</p>`,
    samples: codeBlock(
      'Pin one request',
      shellCode(command(baseUrl, '/v1/me', `-H 'Service-Version: ${currentApiVersion}'`)),
    ),
  };
}

function errorShape(document: OpenApiDocument): Guide {
  const schema = (document.components?.schemas?.['Error'] ?? {}) as Schema;
  return {
    anchor: 'errors',
    title: 'Errors',
    text: html`<p>A 2xx status means that the request succeeded or was accepted. Any other response contains an <code>error</code> object, which always has the same fields. Branch on <code>code</code>, show <code>message</code> to people, and quote <code>request_id</code> when you ask for help. <code>GET /v1/requests/{id}</code> shows the request with this id, and what to do about its error.</p>
<p>After 408, 429 and 5xx, wait for <code>Retry-After</code> and retry with the same <code>Idempotency-Key</code>. After any other 4xx, change the request first. <a href="#error-codes">Error codes</a> explains each code.</p>
${fieldList(schema.properties?.['error'] ?? schema, document, 'response')}`,
    samples: codeBlock('An error', jsonCode(schema.examples?.[0])),
  };
}

function command(baseUrl: string, path: string, ...more: string[]): string {
  const [flags, lines] = [more.filter((one) => /^-\w$/.test(one)), more.filter((one) => !/^-\w$/.test(one))];
  const first = ['curl', ...flags, quote(`${baseUrl.replace(/\/+$/, '')}${path}`)].join(' ');
  return [first, '-H "Authorization: Bearer $SIMPLANE_API_KEY"', ...lines].join(' \\\n  ');
}

function list(values: readonly string[]): Html {
  return html`${values.map((value, index) => html`${index > 0 && (index === values.length - 1 ? ' and ' : ', ')}<code>${value}</code>`)}`;
}
