import { codeBlock, jsonCode } from './code-block.ts';
import type { OpenApiDocument, Schema } from './document.ts';
import { heading } from './heading.ts';
import { type Html, html, slug } from './html.ts';
import { paragraphs } from './markdown.ts';
import { fieldList } from './schema-table.ts';

/** One resource with all its fields. Operations link here. */
export function resourceSection(name: string, document: OpenApiDocument): Html {
  const schema = (document.components?.schemas?.[name] ?? {}) as Schema;
  const anchor = resourceAnchor(name);
  return html`<section class="entry" id="${anchor}">
<div class="text">${heading(3, anchor, name)}${paragraphs(schema.description)}${fieldList(schema, document, 'response')}</div>
<div class="samples">${schema.examples?.[0] !== undefined && codeBlock(name, jsonCode(schema.examples[0]))}</div>
</section>`;
}

export function resourceAnchor(name: string): string {
  return `resource-${slug(name)}`;
}
