import { type Html, html } from './html.ts';

/** Renders the Markdown that the document uses: paragraphs and `code`. Other syntax is shown as plain text. */
export function paragraphs(text: string | undefined): Html[] {
  return (text ?? '')
    .split(/\n\s*\n/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p>${inline(paragraph.trim())}</p>`);
}

/** Renders `code` within a line. An unpaired backtick stays a backtick. */
export function inline(text: string): Html[] {
  return text
    .split(/(`[^`]+`)/)
    .filter((piece) => piece !== '')
    .map((piece) =>
      piece.length > 2 && piece.startsWith('`') && piece.endsWith('`')
        ? html`<code>${piece.slice(1, -1)}</code>`
        : html`${piece}`,
    );
}
