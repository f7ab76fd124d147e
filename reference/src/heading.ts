import { type Html, html } from './html.ts';

/** A heading with a link to its section, whose id is `anchor`. */
export function heading(level: 2 | 3, anchor: string, text: string): Html {
  const content = html`${text} <a class="anchor" href="#${anchor}" aria-label="Link to ${text}">#</a>`;
  return level === 2
    ? html`<h2 id="${anchor}-title">${content}</h2>`
    : html`<h3 id="${anchor}-title">${content}</h3>`;
}
