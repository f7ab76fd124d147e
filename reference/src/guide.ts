import { heading } from './heading.ts';
import { type Html, html } from './html.ts';

/** A topic that concerns several operations. */
export type Guide = { anchor: string; title: string; text: Html; samples: Html };

export function guideSection({ anchor, title, text, samples }: Guide): Html {
  return html`<section class="entry" id="${anchor}"><div class="text">${heading(2, anchor, title)}${text}</div><div class="samples">${samples}</div></section>`;
}
