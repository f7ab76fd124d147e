import { createHash } from 'node:crypto';
import { type Schema as JsonSchema, validate } from '@cfworker/json-schema';
import {
  errorCodes,
  errors,
  eventTypeNames,
  exampleEvent,
  openApiDocument,
  operations,
} from '@simplane/contract';
import { expect, test } from 'vitest';
import { curlSample } from '../src/curl-sample.ts';
import { type OpenApiDocument, readOperations, resolve, type Schema } from '../src/document.ts';
import { docsContentSecurityPolicy, renderDocsPage } from '../src/page.ts';

const baseUrl = 'http://127.0.0.1:4000';
const document = openApiDocument();
const page = renderDocsPage(document, { baseUrl });
const pageText = textOf(page);

test('every operation has a section and a link in the contents', () => {
  for (const [id, { path, summary }] of Object.entries(operations)) {
    expect(page).toContain(`<section class="entry" id="op-${id}">`);
    expect(page).toContain(`<a href="#op-${id}" `);
    expect(pageText).toContain(path);
    expect(pageText).toContain(summary);
  }
});

test('every operation shows its scope, parameters, body fields and error codes', () => {
  for (const operation of readOperations(document)) {
    const section = sectionOf(operation.id);
    if (operation.scope !== null) expect(section).toContain(`<code>${operation.scope}</code> scope`);
    for (const { name } of operation.parameters)
      expect(section).toContain(`<code class="name">${name}</code>`);
    for (const name of Object.keys(resolve(operation.body?.schema ?? {}, document).properties ?? {})) {
      expect(section).toContain(`<code class="name">${name}</code>`);
    }
    expect(operation.refusals.length).toBeGreaterThan(0);
    for (const code of operation.refusals) expect(section).toContain(`href="#error-${code}"`);
  }
});

test('every operation has samples in three languages, and says where to get the ids in them', () => {
  for (const operation of readOperations(document)) {
    const section = sectionOf(operation.id);
    const languages = [...section.matchAll(/<figure class="code" data-language="(\w+)">/g)].map(
      (match) => match[1],
    );
    expect(languages).toEqual(['curl', 'typescript', 'python']);
    const hints = [...section.matchAll(/<p class="hint">(.*?)<\/p>/gs)].map((match) => match[1] ?? '');
    // Product ids are the operator's, and those in the samples exist in every sandbox.
    if (/\{(id|iccid)\}/.test(operation.path) && !operation.path.includes('/products/')) {
      expect(hints, operation.id).not.toEqual([]);
    }
    for (const hint of hints) {
      const [, value = ''] = hint.match(/<code>(.+?)<\/code>/) ?? [];
      expect(textOf(section)).toContain(value);
      // The ICCID in a decision comes from the SM-DP+.
      if (operation.id === 'resolveExecution' && /^\d/.test(value)) continue;
      expect(hint, operation.id).toMatch(/from <a href="#op-\w+">/);
    }
  }
});

test('the operator’s operations stand apart, with their own key and client', () => {
  const operators = readOperations(document).filter(({ path }) => path.startsWith('/v1/operator/'));
  expect(operators.length).toBeGreaterThan(0);
  const [accounts = '', operator = ''] = page.split('<section class="entry" id="operator">');
  for (const { id } of operators) {
    expect(accounts).not.toContain(`<section class="entry" id="op-${id}">`);
    expect(operator).toContain(`<section class="entry" id="op-${id}">`);
    expect(textOf(sectionOf(id))).toContain('$SIMPLANE_OPERATOR_KEY');
    expect(textOf(sectionOf(id))).toContain('await operator.');
    expect(textOf(sectionOf(id))).not.toContain('SIMPLANE_API_KEY');
  }
  expect(operator).not.toContain('$SIMPLANE_API_KEY');
});

test('every event type has a section with the fields and an example of its data', () => {
  for (const type of eventTypeNames) {
    const anchor = `event-${type.replaceAll('.', '-')}`;
    expect(page).toContain(`<a href="#${anchor}">`);
    const section = page.split(`<section class="entry" id="${anchor}">`)[1]?.split('</section>')[0] ?? '';
    const example = JSON.parse(textOf(section.match(/<pre[^>]*>(.*?)<\/pre>/s)?.[1] ?? ''));
    expect(example).toEqual(exampleEvent(type));
    for (const name of Object.keys(example.data)) {
      expect(section).toContain(`<code class="name">${name}</code>`);
    }
  }
});

test('every error code has a row with its status, meaning and remedy', () => {
  for (const code of errorCodes) {
    const row = textOf(page.split(`<tr id="error-${code}">`)[1]?.split('</tr>')[0] ?? '');
    expect(row).toContain(String(errors[code].status));
    expect(row).toContain(errors[code].meaning.replaceAll('`', ''));
    expect(row).toContain(errors[code].remedy.replaceAll('`', ''));
  }
});

test('ids are unique and every link within the page has a target', () => {
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1]);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
});

test('every shown example is JSON, and every curl sample sends a valid body', () => {
  const shown = [...page.matchAll(/<span>Response \d+<\/span>.*?<pre[^>]*>(.*?)<\/pre>/gs)];
  expect(shown.length).toBeGreaterThanOrEqual(Object.keys(operations).length);
  for (const [, code] of shown) JSON.parse(textOf(code ?? ''));
  for (const operation of readOperations(document)) {
    const command = curlSample(operation, baseUrl);
    expect(command).toContain(`'${baseUrl}/v1/`);
    expect(command).not.toMatch(/[{}]id|iccid\}/);
    if (operation.body) {
      const body = JSON.parse(/-d '(.*)'$/s.exec(command)?.[1]?.replaceAll("'\\''", "'") ?? '');
      expect(isValid(body, operation.body.schema)).toBe(true);
    }
    if (operation.method !== 'GET') expect(command).toMatch(/Idempotency-Key: [a-z0-9-]+'/);
  }
});

test('text from the document is escaped everywhere', () => {
  const attack = '</style></script><img src=x onerror="alert(1)"> & \'quoted\' `<b>code</b>`';
  const hostile: OpenApiDocument = {
    info: { title: attack, version: attack, summary: attack, description: attack },
    tags: [{ name: attack, description: attack }],
    paths: {
      [`/v1/${attack}`]: {
        post: {
          operationId: attack,
          tags: [attack],
          summary: attack,
          description: `${attack}\n\nRequires the \`<i>\` scope.`,
          parameters: [
            { name: attack, in: 'query', required: true, description: attack, schema: { enum: [attack] } },
          ],
          requestBody: {
            content: {
              'application/json': {
                schema: { type: 'object', properties: { [attack]: { const: attack } }, required: [attack] },
              },
            },
          },
          responses: {
            200: {
              headers: { [attack]: { description: attack } },
              content: {
                'application/json': { schema: { $ref: '#/components/schemas/X"><img>' } },
                [attack]: {},
              },
            },
          },
        },
      },
    },
    components: {
      schemas: { 'X"><img>': { description: attack, pattern: '<img>', default: attack, examples: [attack] } },
    },
  };
  const rendered = renderDocsPage(hostile, { baseUrl: `http://host/${attack}` });
  expect(rendered).not.toMatch(/<img|<b>|<i>/);
  expect(rendered.match(/<\/?script/g)).toHaveLength(2);
  expect(rendered.match(/<\/?style/g)).toHaveLength(2);
  expect(rendered).toContain('<code>&lt;b&gt;code&lt;/b&gt;</code>');
  expect(rendered).toContain('&amp; &#39;quoted&#39;');
});

test('the page loads nothing from another origin', () => {
  const loading =
    /<(?:script|img|iframe|source|video|audio|object|embed|use|image)\b[^>]*\b(?:src|href|data)=/i;
  expect(page).not.toMatch(loading);
  expect(page).not.toMatch(/@import|url\(/i);
  expect(page).not.toMatch(/(?:src|href|action)="(?:https?:)?\/\//i);
  expect([...page.matchAll(/<link\b[^>]*href="([^":]+):/g)].map((match) => match[1])).toEqual(['data']);
});

test('the policy allows only the page’s own style and script', () => {
  for (const [element, directive] of [
    ['style', 'style-src'],
    ['script', 'script-src'],
  ] as const) {
    const content = page.split(`<${element}>`)[1]?.split(`</${element}>`)[0] ?? '';
    const hash = createHash('sha256').update(content).digest('base64');
    expect(docsContentSecurityPolicy).toContain(`${directive} 'sha256-${hash}';`);
  }
  expect(docsContentSecurityPolicy).toMatch(/^default-src 'none';/);
  expect(docsContentSecurityPolicy).not.toMatch(/unsafe|\*|https?:/);
  expect(page).not.toMatch(/\s(?:style|on[a-z]+)="/);
});

test('the same document renders to the same bytes', () => {
  expect(renderDocsPage(openApiDocument(), { baseUrl })).toBe(page);
});

function isValid(body: unknown, schema: Schema): boolean {
  const named = Object.fromEntries(
    Object.entries(document.components.schemas).map(([name, one]) => [`#/components/schemas/${name}`, one]),
  );
  return validate(body, schema as JsonSchema, '2020-12', named as Record<string, JsonSchema>).valid;
}

function sectionOf(id: string): string {
  return page.split(`<section class="entry" id="op-${id}">`)[1]?.split('</section>')[0] ?? '';
}

function textOf(markup: string): string {
  const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return markup
    .replace(/<[^>]*>/g, '')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => characters[name] ?? '');
}
