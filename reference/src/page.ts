import { createHash } from 'node:crypto';
import { errorCodes } from '@simplane/contract';
import { codeBlock } from './code-block.ts';
import { type DocOperation, type OpenApiDocument, readOperations, resourceNames } from './document.ts';
import { errorCodesSection } from './error-codes-section.ts';
import { eventAnchor, eventTypesSection, readEvents } from './event-types-section.ts';
import { type Guide, guideSection } from './guide.ts';
import { guides } from './guide-sections.ts';
import { heading } from './heading.ts';
import { type Html, html, slug, toText, trusted } from './html.ts';
import { inline, paragraphs } from './markdown.ts';
import { type NavigationGroup, navigation } from './navigation.ts';
import { type OperationContext, operationAnchor, operationSection } from './operation-section.ts';
import { operatorGuide } from './operator-guide.ts';
import { resourceAnchor, resourceSection } from './resource-section.ts';
import { script } from './script.ts';
import { style } from './style.ts';

export type { OpenApiDocument } from './document.ts';
export { type Html, html, toText, trusted } from './html.ts';

/** Renders the API reference as one self-contained page. The same document always gives the same bytes. */
export function renderDocsPage(document: OpenApiDocument, options: { baseUrl: string }): string {
  const { title, version } = document.info;
  const operations = readOperations(document);
  const tags = tagsOf(
    document,
    operations.filter(({ isOperators }) => !isOperators),
  );
  const operatorTags = tagsOf(
    document,
    operations.filter(({ isOperators }) => isOperators),
  );
  const shared = guides(document, options.baseUrl);
  const context = { document, operations, baseUrl: options.baseUrl };
  return toText(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${document.info.summary}">
<title>${title} API reference</title>
<link rel="icon" href="${icon}">
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the reference</a>
<header class="bar">
<button type="button" class="menu" popovertarget="contents" aria-label="Contents"><span></span><span></span><span></span></button>
<a class="brand" href="#introduction">${logo}<span>${title}</span></a>
<span class="label">API reference</span>
<span class="version">${version}</span>
<a class="source" href="/openapi.json">OpenAPI</a>
</header>
<div class="layout">
${navigation(contents(document, shared, { tags, operatorTags }, operations))}
<main id="main" tabindex="-1">
${introduction(document, options.baseUrl)}
${shared.map(guideSection)}
${tags.map((tag) => tagSection(tag, context))}
${eventTypesSection(document)}
${operatorTags.length > 0 && guideSection(operatorGuide(options.baseUrl))}
${operatorTags.map((tag) => tagSection(tag, context))}
<section class="tag" id="resources">
${heading(2, 'resources', 'Resources')}
<p>The objects that the operations return.</p>
${resourceNames(document).map((name) => resourceSection(name, document))}
</section>
${errorCodesSection()}
</main>
</div>
<script>${trusted(script)}</script>
</body>
</html>
`);
}

function tagSection({ name, description }: Tag, context: OperationContext): Html {
  const own = context.operations.filter((operation) => operation.tag === name);
  return html`<section class="tag" id="tag-${slug(name)}">
${heading(2, `tag-${slug(name)}`, name)}${paragraphs(description)}
${own.map((operation) => operationSection(operation, context))}
</section>`;
}

/** Allows only the page's own stylesheet and script, by hash, and its inline icon. */
export const docsContentSecurityPolicy: string = [
  "default-src 'none'",
  `style-src '${hash(style)}'`,
  `script-src '${hash(script)}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function introduction(document: OpenApiDocument, baseUrl: string): Html {
  const { title, summary, description } = document.info;
  return html`<section class="entry intro" id="introduction">
<div class="text"><h1 id="introduction-title">${title} API</h1>
${summary !== undefined && html`<p class="lead">${inline(summary)}</p>`}
${paragraphs(description)}</div>
<div class="samples">${codeBlock('Base URL', html`${baseUrl.replace(/\/+$/, '')}`)}</div>
</section>`;
}

function contents(
  document: OpenApiDocument,
  shared: readonly Guide[],
  { tags, operatorTags }: { tags: readonly Tag[]; operatorTags: readonly Tag[] },
  operations: readonly DocOperation[],
): NavigationGroup[] {
  const groupOf = ({ name }: Tag) => ({
    title: name,
    links: operations
      .filter((operation) => operation.tag === name)
      .map((operation) => ({
        anchor: operationAnchor(operation),
        title: operation.summary,
        method: operation.method,
        alsoFoundBy: `${operation.path} ${operation.id}`,
      })),
  });
  const operator = { title: 'Operator', links: [{ anchor: 'operator', title: 'Operator API' }] };
  return [
    { title: 'Basics', links: [{ anchor: 'introduction', title: 'Introduction' }, ...shared] },
    ...tags.map(groupOf),
    {
      title: 'Event types',
      links: readEvents(document).map(({ type }) => ({ anchor: eventAnchor(type), title: type })),
    },
    ...(operatorTags.length > 0 ? [operator, ...operatorTags.map(groupOf)] : []),
    {
      title: 'Resources',
      links: resourceNames(document).map((name) => ({ anchor: resourceAnchor(name), title: name })),
    },
    { title: 'Appendix', links: [{ anchor: 'error-codes', title: 'Error codes' }] },
    {
      title: 'Error codes',
      links: errorCodes.map((code) => ({ anchor: `error-${code}`, title: code })),
      isOnlySearched: true,
    },
  ];
}

type Tag = { name: string; description?: string };

/** Tags in document order, then undeclared tags, so that no operation is missing. */
function tagsOf(document: OpenApiDocument, operations: readonly DocOperation[]): Tag[] {
  const declared = document.tags ?? [];
  const used = new Set(operations.map((operation) => operation.tag));
  const known = new Set(declared.map(({ name }) => name));
  const missing = [...used].filter((name) => !known.has(name));
  return [...declared.filter(({ name }) => used.has(name)), ...missing.map((name) => ({ name }))];
}

const logo = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M6 2h8.2L20 7.8V20a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2Z" fill="currentColor"/><path class="chip" d="M8 11h8v7H8zM12 11v7M8 14.5h8" fill="none" stroke-width="1.5"/></svg>`;

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M6 2h8.2L20 7.8V20a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2Z" fill="#0b7d6b"/><path d="M8 11h8v7H8zM12 11v7M8 14.5h8" fill="none" stroke="#fff" stroke-width="1.5"/></svg>',
)}`;
