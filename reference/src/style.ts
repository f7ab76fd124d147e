/** Every text color has a contrast of at least 4.5 against its background, in both color schemes. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --soft: #f5f7f8; --line: #e2e7ea; --line-strong: #cbd3d8;
  --ink: #16212b; --text: #34424e; --quiet: #5a6874;
  --accent: #0a6f60; --accent-soft: #e3f4f0;
  --code-page: #101a24; --code-bar: #172431; --code-line: #24323f; --code-text: #dbe5ec; --code-quiet: #93a5b3;
  --c-key: #8fc7ff; --c-string: #8ee0bf; --c-number: #f5b87a; --c-word: #d3a6ff;
  --get: #0a6f60; --post: #1d5fbf; --patch: #8a5a00; --delete: #b3261e;
  --get-soft: #e3f4f0; --post-soft: #e6effb; --patch-soft: #fbf0dc; --delete-soft: #fceae8;
  --required: #a3400c;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
  --bar: 3.5rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d141b; --soft: #141e27; --line: #22303b; --line-strong: #34454f;
    --ink: #f0f5f8; --text: #c3ced7; --quiet: #94a3af;
    --accent: #5fd9bf; --accent-soft: #12312d;
    --code-page: #111b24; --code-bar: #17232e; --code-line: #263541;
    --get: #5fd9bf; --post: #8bb8ff; --patch: #f0be6a; --delete: #ff9c94;
    --get-soft: #12312d; --post-soft: #172a45; --patch-soft: #33270f; --delete-soft: #3a1a1a;
    --required: #f5a673;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 400 0.9375rem/1.6 var(--sans); }
h1, h2, h3, h4 { color: var(--ink); line-height: 1.25; margin: 0; letter-spacing: -0.012em; text-wrap: balance; }
h1 { font-size: 2.25rem; font-weight: 700; letter-spacing: -0.028em; }
h2 { font-size: 1.5rem; font-weight: 650; letter-spacing: -0.02em; }
h3 { font-size: 1.25rem; font-weight: 650; }
h4 { font-size: 0.9375rem; font-weight: 650; margin: 2rem 0 0.5rem; }
p { margin: 0.75rem 0; }
a { color: var(--accent); text-decoration-color: color-mix(in srgb, currentColor 40%, transparent); text-underline-offset: 0.18em; }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
code { font-family: var(--mono); font-size: 0.86em; }
p code, dd code, td code, li code { background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: 0.08em 0.32em; overflow-wrap: anywhere; }
a code { color: inherit; }
ul { list-style: none; margin: 0; padding: 0; }
ol { margin: 0.75rem 0; padding-left: 1.25rem; }
li + li { margin-top: 0.2rem; }
ul > li + li { margin-top: 0; }

.skip { position: fixed; left: 1rem; top: -4rem; z-index: 9; background: var(--accent); color: var(--page); padding: 0.5rem 1rem; border-radius: 6px; }
.skip:focus { top: 0.6rem; }
.bar { position: sticky; top: 0; z-index: 5; display: flex; align-items: center; gap: 0.75rem; height: var(--bar); padding: 0 1.5rem; background: var(--page); border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; gap: 0.5rem; color: var(--ink); font-weight: 700; font-size: 1.0625rem; letter-spacing: -0.02em; text-decoration: none; }
.brand svg { color: var(--accent); flex: none; }
.brand .chip { stroke: var(--page); }
.label { color: var(--quiet); border-left: 1px solid var(--line-strong); padding-left: 0.75rem; }
.version { margin-left: auto; font: 0.8125rem var(--mono); color: var(--quiet); white-space: nowrap; }
.source { font-size: 0.875rem; font-weight: 550; }
.menu { display: none; }

.layout { display: grid; grid-template-columns: 16.5rem minmax(0, 1fr); max-width: 96rem; margin: 0 auto; }
#contents { display: block; position: sticky; inset: auto; top: var(--bar); width: auto; height: calc(100vh - var(--bar)); max-height: none; margin: 0; padding: 1.25rem 0.75rem 3rem 0.75rem; overflow-y: auto; overscroll-behavior: contain; border: 0; border-right: 1px solid var(--line); background: var(--page); color: var(--text); scrollbar-width: thin; }
.group { margin: 1.5rem 0.75rem 0.35rem; font-size: 0.8125rem; font-weight: 650; color: var(--ink); }
#contents a { display: flex; align-items: center; justify-content: space-between; gap: 0.75rem; padding: 0.28rem 0.75rem; border-radius: 6px; color: var(--text); font-size: 0.875rem; line-height: 1.4; text-decoration: none; }
#contents a:hover { background: var(--soft); color: var(--ink); }
#contents a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 550; }
.links[hidden], #contents li[hidden] { display: none; }
.links:first-of-type .group { margin-top: 0; }
.search { position: sticky; top: -1.25rem; z-index: 1; margin: -1.25rem 0 0; padding: 1.25rem 0.75rem 0.5rem; background: var(--page); }
.search[hidden] { display: none; }
.search input { width: 100%; padding: 0.4rem 2.2rem 0.4rem 0.65rem; font: inherit; font-size: 0.875rem; color: var(--ink); background: var(--soft); border: 1px solid var(--line-strong); border-radius: 6px; }
.search input::placeholder { color: var(--quiet); opacity: 1; }
.search kbd { position: absolute; right: 1.35rem; top: 1.7rem; font: 0.75rem var(--mono); color: var(--quiet); pointer-events: none; }
.search input:not(:placeholder-shown) + kbd { display: none; }
#found { margin: 0 0.75rem; font-size: 0.8125rem; color: var(--quiet); }
#found:not(:empty) { margin-bottom: 0.75rem; }
.verb { font: 600 0.6875rem var(--mono); letter-spacing: 0.02em; }
.get { color: var(--get); } .post { color: var(--post); } .patch, .put { color: var(--patch); } .delete { color: var(--delete); }

/* Not scroll-padding: it treats the sticky bar as out of view, so focusing its button makes the page jump. */
main, main :is(section, tr, a, button, summary, pre) { scroll-margin-top: var(--bar); }
main { padding: 0 2.5rem 6rem; min-width: 0; }
main > section { padding: 3rem 0; border-bottom: 1px solid var(--line); }
main > section:last-child { border-bottom: 0; }
.tag > h2 + p { margin-bottom: 0; }
.tag > .entry { padding: 2.75rem 0; border-top: 1px solid var(--line); }
.tag > h2 ~ .entry:nth-of-type(1) { border-top: 0; padding-top: 1.75rem; }
.tag > .entry:last-child { padding-bottom: 0; }
.entry { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 29rem); gap: 0 3rem; align-items: start; }
.text { max-width: 44rem; min-width: 0; overflow-wrap: anywhere; }
.samples { position: sticky; top: calc(var(--bar) + 1.5rem); min-width: 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
.lead { font-size: 1.1875rem; color: var(--ink); line-height: 1.5; }
.anchor { opacity: 0; font-weight: 400; text-decoration: none; padding: 0 0.2em; }
h2:hover .anchor, h3:hover .anchor, .anchor:focus-visible { opacity: 1; }

.endpoint { display: flex; align-items: baseline; gap: 0.6rem; margin: 0.6rem 0 1rem; }
.endpoint code { background: none; border: 0; padding: 0; font-size: 0.9375rem; color: var(--ink); overflow-wrap: anywhere; }
.method, .status { flex: none; font: 650 0.75rem/1 var(--mono); padding: 0.32em 0.5em; border-radius: 5px; background: var(--soft); color: var(--text); }
.method.get { background: var(--get-soft); color: var(--get); } .method.post { background: var(--post-soft); color: var(--post); }
.method.patch, .method.put { background: var(--patch-soft); color: var(--patch); } .method.delete { background: var(--delete-soft); color: var(--delete); }
.status.ok { background: var(--get-soft); color: var(--get); margin-right: 0.25rem; }
.scope, .hint { color: var(--quiet); font-size: 0.875rem; }
.hint { margin: -0.35rem 0 0; overflow-wrap: anywhere; }

.fields { margin: 0.5rem 0 0; }
.field { padding: 0.8rem 0; border-top: 1px solid var(--line); }
.field dt { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.15rem 0.55rem; }
.field dd { margin: 0; }
.field dd > p { margin: 0.2rem 0 0; }
.field code.name { color: var(--ink); font-weight: 600; background: none; border: 0; padding: 0; }
.type, .where, .optional { color: var(--quiet); font-size: 0.8125rem; font-weight: 400; }
.required { color: var(--required); font-size: 0.8125rem; font-weight: 550; }
.constraints { margin-top: 0.25rem; color: var(--quiet); font-size: 0.8125rem; }
.constraints li { display: inline; }
.constraints li:not(:last-child)::after { content: " · "; }
.enum { display: flex; align-items: baseline; gap: 0.5rem; margin-top: 0.35rem; }
.enum > span { flex: none; font-size: 0.8125rem; color: var(--quiet); }
.choices { display: flex; flex-wrap: wrap; gap: 0.35rem; min-width: 0; }
.variant { margin: 1rem 0 0; font-weight: 600; color: var(--ink); font-size: 0.875rem; }
.field .fields { margin: 0.75rem 0 0; padding-left: 1rem; border-left: 2px solid var(--line); }
.field .field { padding: 0.6rem 0; }
.field .field:first-child { border-top: 0; padding-top: 0.15rem; }
.field .field:last-child { padding-bottom: 0.15rem; }
.more { margin-top: 0.75rem; }
.more > summary { display: inline-flex; align-items: center; gap: 0.4rem; cursor: pointer; font-size: 0.875rem; font-weight: 550; color: var(--accent); list-style: none; }
.more > summary::-webkit-details-marker { display: none; }
.more > summary::before { content: "+"; font: 600 0.9375rem/1 var(--mono); width: 0.7em; }
.more[open] > summary::before { content: "−"; }
.more > ul { margin-top: 0.6rem; }
.field .more { margin-top: 0.35rem; }
.chips { display: flex; flex-wrap: wrap; gap: 0.4rem; }
.chips a { display: block; padding: 0.12rem 0.5rem; border: 1px solid var(--line); border-radius: 6px; color: var(--text); text-decoration: none; font-size: 0.8125rem; }
.chips a:hover { border-color: var(--accent); color: var(--accent); }
.chips span { color: var(--quiet); font: 0.75rem var(--mono); }
.chips code { background: none; border: 0; padding: 0; }

.code { margin: 0; border-radius: 10px; overflow: hidden; background: var(--code-page); color: var(--code-text); border: 1px solid var(--code-line); }
.code figcaption { display: flex; align-items: center; justify-content: space-between; min-height: 2.4rem; padding: 0 0.5rem 0 1rem; background: var(--code-bar); color: var(--code-quiet); font-size: 0.8125rem; font-weight: 550; }
.code button { font: 550 0.75rem var(--sans); color: var(--code-text); background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 0.3rem 0.6rem; cursor: pointer; }
.code button:hover { background: var(--code-line); }
.code pre { margin: 0; padding: 0.9rem 1rem; overflow: auto; max-height: 34rem; font: 0.8125rem/1.65 var(--mono); tab-size: 2; scrollbar-width: thin; scrollbar-color: var(--code-quiet) transparent; }
.code pre:focus-visible, .code button:focus-visible { outline-color: var(--c-key); outline-offset: -2px; }
.code code { font-size: inherit; }
.c-key { color: var(--c-key); } .c-string { color: var(--c-string); } .c-number { color: var(--c-number); } .c-word { color: var(--c-word); } .c-command { color: #ffffff; font-weight: 600; }

.languages { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; }
.choose { display: flex; flex-wrap: wrap; gap: 0.25rem; }
.choose[hidden] { display: none; }
.choose button { font: 550 0.8125rem var(--sans); color: var(--text); background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 0.25rem 0.65rem; cursor: pointer; }
.choose button:hover { background: var(--soft); }
.choose button[aria-pressed="true"] { background: var(--accent-soft); color: var(--accent); border-color: currentColor; }
:root[data-language="curl"] .code[data-language]:not([data-language="curl"]),
:root[data-language="typescript"] .code[data-language]:not([data-language="typescript"]),
:root[data-language="python"] .code[data-language]:not([data-language="python"]) { display: none; }
/* Before the script runs, so that the page does not jump. */
@media (scripting: enabled) {
  :root:not([data-language]) .code[data-language]:not([data-language="curl"]) { display: none; }
}

.codes { width: 100%; border-collapse: collapse; margin-top: 1.25rem; font-size: 0.875rem; line-height: 1.5; }
.codes th, .codes td { text-align: left; vertical-align: top; padding: 0.7rem 1rem 0.7rem 0; border-top: 1px solid var(--line); font-weight: 400; }
.codes thead th { border-top: 0; color: var(--quiet); font-size: 0.8125rem; font-weight: 550; }
.codes tbody th a { text-decoration: none; font-weight: 600; color: var(--ink); }
.codes tbody th code { background: none; border: 0; padding: 0; }
.codes small { display: block; color: var(--quiet); font-size: 0.75rem; }
.codes th:first-child, .codes td:first-child { padding-left: 0.5rem; }
.codes tbody tr { scroll-margin-top: calc(var(--bar) + 2rem); }
tr:target > * { background: var(--accent-soft); }

@media (max-width: 72rem) {
  .entry { grid-template-columns: minmax(0, 1fr); gap: 1.75rem; }
  .samples { position: static; max-width: 44rem; }
}
@media (max-width: 52rem) {
  .bar { padding: 0 1rem; }
  .label { display: none; }
  .menu { display: grid; gap: 4px; padding: 0.7rem 0.55rem; margin-left: -0.55rem; background: none; border: 0; border-radius: 6px; cursor: pointer; }
  .menu span { display: block; width: 1.2rem; height: 2px; border-radius: 1px; background: var(--ink); }
  .layout { display: block; }
  #contents { position: fixed; inset: 0 auto 0 0; width: min(20rem, 86vw); height: 100%; padding-top: 1.5rem; box-shadow: 0 0 3rem rgb(0 0 0 / 0.35); }
  #contents:not(:popover-open) { display: none; }
  #contents::backdrop { background: rgb(8 14 20 / 0.5); }
  #contents a { padding: 0.5rem 0.75rem; }
  main { padding: 0 1rem 4rem; }
  main > section { padding: 2.25rem 0; }
  h1 { font-size: 1.875rem; }
  .codes thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .codes, .codes tbody { display: block; }
  .codes tr { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.2rem 0.75rem; padding: 0.9rem 0; border-top: 1px solid var(--line); }
  .codes tbody tr > :nth-child(n) { border: 0; padding: 0; overflow-wrap: anywhere; }
  .codes td:nth-child(n + 3) { grid-column: 1 / -1; }
}
@media (max-width: 24rem) {
  .version { display: none; }
  .source { margin-left: auto; }
}
@media print {
  :root { color-scheme: light; --code-page: #fff; --code-bar: #fff; --code-line: #bbb; --code-text: #111; --code-quiet: #444; --c-key: #111; --c-string: #111; --c-number: #111; --c-word: #111; }
  .bar { position: static; }
  #contents, .skip, .menu, .choose, .code button, .anchor { display: none; }
  .layout { display: block; }
  main { padding: 0; }
  .entry { display: block; }
  .samples { position: static; margin-top: 1rem; }
  .code pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; }
  .c-command { color: #111; }
  details::details-content { content-visibility: visible; display: block; }
  .code, .field, .codes tr { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
}
`;
