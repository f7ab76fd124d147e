import { apiVersions, currentApiVersion, pageSize, scopes } from '@simplane/contract';
import { codeBlock, jsonCode, shellCode } from './code-block.ts';
import { quote } from './curl-sample.ts';
import type { OpenApiDocument, Schema } from './document.ts';
import { exampleOf } from './example.ts';
import { heading } from './heading.ts';
import { type Html, html } from './html.ts';
import { fieldList } from './schema-table.ts';

export type Guide = { anchor: string; title: string; text: Html; samples: Html };

/** What holds for every operation, once, before the operations. */
export function guides(document: OpenApiDocument, baseUrl: string): Guide[] {
  return [
    authentication(baseUrl),
    idempotency(baseUrl),
    pagination(baseUrl),
    versions(baseUrl),
    errorShape(document),
  ];
}

export function guideSection({ anchor, title, text, samples }: Guide): Html {
  return html`<section class="entry" id="${anchor}"><div class="text">${heading(2, anchor, title)}${text}</div><div class="samples">${samples}</div></section>`;
}

function authentication(baseUrl: string): Guide {
  return {
    anchor: 'authentication',
    title: 'Authentication',
    text: html`<p>Send your API key as a bearer token with every request. Keys that begin <code>sp_test_</code> work in a sandbox, keys that begin <code>sp_live_</code> in a live deployment, and neither works in the other.</p>
<p>A key has one or more scopes: ${list(scopes)}. Each operation below names the one it needs; <code>write</code> includes <code>install</code>, for activation codes, and <code>read</code> does not; a key without it gets <a href="#error-scope_missing"><code>scope_missing</code></a>.</p>
<p>Keep keys on your servers. We store only a hash of them and cannot show one again.</p>
<p>Put yours in the shell once, and every sample on this page works as pasted:</p>`,
    samples: html`${codeBlock('Set the key', shellCode("export SIMPLANE_API_KEY='sp_test_…'"))}${codeBlock(
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
    text: html`<p>A timeout leaves you not knowing whether a write took place. Send an <code>Idempotency-Key</code> with every POST, PATCH and DELETE, and repeat the request with the same key until you get an answer: the work is done once, and each repeat gets the first answer again, marked <code>Idempotent-Replayed: true</code>.</p>
<p>A key is 1 to 255 printable ASCII characters, belongs to your account and is remembered for 24 hours. Make it from what you are doing, such as your order number, or make a random UUID and save it before you send.</p>
<p>The same key with another request is refused with <a href="#error-idempotency_key_reused"><code>idempotency_key_reused</code></a>. While the first request still runs, a repeat gets <a href="#error-idempotency_in_progress"><code>idempotency_in_progress</code></a> and a <code>Retry-After</code> at once.</p>
<p>Samples on this page carry a fixed key, so that pasting one twice is a safe retry. Change the key when you change the request.</p>`,
    samples: codeBlock(
      'Run it twice: one order',
      shellCode(
        `${command(baseUrl, '/v1/esims', '-i')} \\\n  -H 'Idempotency-Key: order-1001' \\\n  -H 'Content-Type: application/json' \\\n  -d ${body}`,
      ),
    ),
  };
}

function pagination(baseUrl: string): Guide {
  return {
    anchor: 'pagination',
    title: 'Pagination',
    text: html`<p>Lists are newest first. <code>limit</code> sets the size of a page: ${pageSize.default} unless you say otherwise, ${pageSize.maximum} at most. When <code>has_more</code> is true, pass <code>next_cursor</code> back as <code>starting_after</code>, unchanged and with the same filters, for the next page. You are done when <code>has_more</code> is false.</p>
<p>Cursors are opaque: do not build or store them for long. Things that are created while you walk appear on a fresh first page and never shift the pages you are on.</p>`,
    samples: html`${codeBlock(
      'The next page',
      shellCode(
        command(baseUrl, '/v1/products?limit=3', '-G', `--data-urlencode "starting_after=$NEXT_CURSOR"`),
      ),
    )}${codeBlock('A page', jsonCode({ object: 'list', data: ['…'], has_more: true, next_cursor: 'eyJhIjoiMDFrOTQifQ' }))}`,
  };
}

function versions(baseUrl: string): Guide {
  return {
    anchor: 'versions',
    title: 'Versions',
    text: html`<p>A version is a date. Your account stays on the one that was current when it was created, so an upgrade on our side never changes an answer on yours. To try another, name it in <code>Service-Version</code> for a single request; every answer says in the same header which version it is in.</p>
<p>There ${apiVersions.length === 1 ? 'is one version' : `are ${apiVersions.length} versions`}: ${list(apiVersions)}. New fields, event types and error codes may be added within a version, so ignore what you do not know.</p>`,
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
    text: html`<p>A 2xx status means it was done or accepted. Anything else carries one JSON object, <code>error</code>, of the same shape everywhere. Let your code branch on <code>code</code>, show <code>message</code> to people, and quote <code>request_id</code> when you ask for help.</p>
<p>Repeat a request after 408, 429 and 5xx, with the same <code>Idempotency-Key</code> and after what <code>Retry-After</code> says; change it first after any other 4xx. What each code means stands under <a href="#error-codes">Error codes</a>.</p>
${fieldList(schema.properties?.['error'] ?? schema, document, 'response')}`,
    samples: codeBlock('An error', jsonCode(exampleOf(schema, document))),
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
