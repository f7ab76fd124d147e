import { type Html, html } from './html.ts';

type NavigationLink = { anchor: string; title: string; method?: string };
export type NavigationGroup = { title: string; links: NavigationLink[] };

/** A sidebar on wide screens. On narrow ones a popover, which works without a script. */
export function navigation(groups: readonly NavigationGroup[]): Html {
  return html`<nav id="contents" popover aria-label="Contents">${groups.map(
    ({ title, links }) => html`
<p class="group">${title}</p>
<ul>${links.map(
      (link) =>
        html`<li><a href="#${link.anchor}"><span>${link.title}</span>${
          link.method &&
          html`<span class="verb ${link.method.toLowerCase()}">${shortMethod(link.method)}</span>`
        }</a></li>`,
    )}</ul>`,
  )}
</nav>`;
}

function shortMethod(method: string): string {
  return method === 'DELETE' ? 'DEL' : method;
}
