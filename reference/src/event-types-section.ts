import { codeBlock, jsonCode } from './code-block.ts';
import { type OpenApiDocument, resolve, type Schema } from './document.ts';
import { heading } from './heading.ts';
import { type Html, html, slug } from './html.ts';
import { paragraphs } from './markdown.ts';
import { fieldList } from './schema-table.ts';

type DocEvent = { type: string; description: string; schema: Schema; example: unknown };

/** The event types of the document's webhooks, without the entry that stands for all of them. */
export function readEvents(document: OpenApiDocument): DocEvent[] {
  return Object.values(document.webhooks ?? {}).flatMap(({ post }) => {
    const content = post?.requestBody?.content?.['application/json'];
    const schema = resolve(content?.schema ?? {}, document);
    const type = schema.properties?.['type']?.const;
    if (typeof type !== 'string') return [];
    return [{ type, description: post?.description ?? '', schema, example: content?.example }];
  });
}

export function eventAnchor(type: string): string {
  return `event-${slug(type)}`;
}

/** Every event type with the fields of its data and an example of a delivery. */
export function eventTypesSection(document: OpenApiDocument): Html {
  return html`<section class="tag" id="event-types">
${heading(2, 'event-types', 'Event types')}
<p>What an endpoint receives, as the body of a signed POST. An event has only ids and what changed: fetch the current state from the API. Answer 2xx as soon as the event is stored; any other answer is a failure and is retried. Ignore types and fields that you do not know.</p>
${readEvents(document).map((event) => eventEntry(event, document))}
</section>`;
}

function eventEntry({ type, description, schema, example }: DocEvent, document: OpenApiDocument): Html {
  const anchor = eventAnchor(type);
  const data = schema.properties?.['data'] ?? {};
  return html`<section class="entry" id="${anchor}">
<div class="text">${heading(3, anchor, type)}${paragraphs(description)}<h4>Fields of <code>data</code></h4>${fieldList(data, document, 'response')}</div>
<div class="samples">${codeBlock(type, jsonCode(example))}</div>
</section>`;
}
