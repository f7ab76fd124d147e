import { type Html, html } from './html.ts';

/** `alsoFoundBy` is searched, besides the title, and not shown. */
type NavigationLink = { anchor: string; title: string; method?: string; alsoFoundBy?: string };

/** `isOnlySearched` hides the group until a search finds a link of it. */
export type NavigationGroup = { title: string; links: NavigationLink[]; isOnlySearched?: true };

/** A sidebar on wide screens. On narrow ones a popover, which works without a script. */
export function navigation(groups: readonly NavigationGroup[]): Html {
  return html`<nav id="contents" popover aria-label="Contents">
<div class="search" hidden><input id="search" type="search" placeholder="Search" aria-label="Search the reference" aria-keyshortcuts="/" autocomplete="off" spellcheck="false"><kbd>/</kbd></div>
<p id="found" role="status"></p>${groups.map(
    ({ title, links, isOnlySearched }) => html`
<div class="links"${isOnlySearched && html` data-searched hidden`}>
<p class="group">${title}</p>
<ul>${links.map(
      (link) =>
        html`<li><a href="#${link.anchor}"${link.alsoFoundBy !== undefined && html` data-find="${link.alsoFoundBy}"`}><span>${link.title}</span>${
          link.method &&
          html`<span class="verb ${link.method.toLowerCase()}">${shortMethod(link.method)}</span>`
        }</a></li>`,
    )}</ul>
</div>`,
  )}
</nav>`;
}

function shortMethod(method: string): string {
  return method === 'DELETE' ? 'DEL' : method;
}
