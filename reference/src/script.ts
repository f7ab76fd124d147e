/** Adds the search, the choice of a language and copy buttons, highlights the current section in the contents and closes the contents after a click. The page works without it. */
export const script = `
const contents = document.getElementById('contents');
if (navigator.clipboard) {
  for (const button of document.querySelectorAll('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const sample = button.closest('figure').querySelector('pre').textContent;
      const done = await navigator.clipboard.writeText(sample).then(() => true, () => false);
      button.textContent = done ? 'Copied' : 'Not allowed';
      setTimeout(() => { button.textContent = 'Copy'; }, 1600);
    });
  }
}
const root = document.documentElement;
const chooseLanguage = (language) => {
  root.dataset.language = language;
  for (const button of document.querySelectorAll('[data-choose]')) {
    button.setAttribute('aria-pressed', String(button.dataset.choose === language));
  }
};
let saved = null;
try { saved = localStorage.getItem('language'); } catch {}
chooseLanguage(document.querySelector('[data-choose="' + CSS.escape(saved ?? '') + '"]') ? saved : 'curl');
for (const group of document.querySelectorAll('.choose')) group.hidden = false;
document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-choose]');
  if (!button) return;
  const before = button.getBoundingClientRect().top;
  chooseLanguage(button.dataset.choose);
  scrollBy({ top: button.getBoundingClientRect().top - before, behavior: 'instant' });
  try { localStorage.setItem('language', button.dataset.choose); } catch {}
});

const search = document.getElementById('search');
const found = document.getElementById('found');
const groups = [...contents.querySelectorAll('.links')].map((element) => ({
  element,
  links: [...element.querySelectorAll('a')].map((link) => ({
    link,
    title: (link.textContent + ' ' + (link.dataset.find ?? '')).toLowerCase(),
  })),
}));
let texts = null;
const textOf = (link) => {
  texts ??= new Map();
  if (!texts.has(link)) texts.set(link, document.getElementById(link.hash.slice(1))?.textContent.toLowerCase() ?? '');
  return texts.get(link);
};
const visibleLinks = () => [...contents.querySelectorAll('.links:not([hidden]) li:not([hidden]) a')];
const showMatches = () => {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const all = groups.flatMap((group) => group.links);
  const matches = (text) => words.every((word) => text.includes(word));
  let shown = new Set(all.filter(({ title }) => matches(title)));
  // Nothing has this name: search the text of the sections.
  if (shown.size === 0) shown = new Set(all.filter(({ link }) => matches(textOf(link))));
  for (const { element, links } of groups) {
    for (const entry of links) entry.link.parentElement.hidden = !shown.has(entry);
    const isEmpty = !links.some((entry) => shown.has(entry));
    element.hidden = words.length === 0 ? element.hasAttribute('data-searched') : isEmpty;
  }
  found.textContent = words.length === 0 ? '' : shown.size === 1 ? '1 match' : shown.size + ' matches';
  contents.scrollTop = 0;
};
search.parentElement.hidden = false;
search.addEventListener('input', showMatches);
search.addEventListener('keydown', (event) => {
  const [first] = visibleLinks();
  if (event.key === 'Enter' && search.value.trim() !== '') first?.click();
  else if (event.key === 'ArrowDown') first?.focus();
  else if (event.key === 'Escape' && search.value !== '') {
    search.value = '';
    showMatches();
  } else return;
  event.preventDefault();
});
contents.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const all = visibleLinks();
  const at = all.indexOf(event.target);
  if (!step || at < 0) return;
  event.preventDefault();
  (all[at + step] ?? (step < 0 ? search : all[at])).focus();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, textarea, select, [contenteditable]')) return;
  event.preventDefault();
  if (!contents.checkVisibility()) contents.showPopover();
  search.focus();
  search.select();
});
contents.addEventListener('click', (event) => {
  if (event.target.closest('a') && contents.matches(':popover-open')) contents.hidePopover();
});
const links = new Map();
for (const link of contents.querySelectorAll('a')) links.set(link.hash.slice(1), link);
let current = null;
const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    const link = links.get(target.id);
    if (!isIntersecting || !link || link === current) continue;
    current?.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'true');
    current = link;
    const [box, frame] = [link.getBoundingClientRect(), contents.getBoundingClientRect()];
    if (box.top < frame.top || box.bottom > frame.bottom) contents.scrollTop += box.top - frame.top - frame.height / 3;
  }
}, { rootMargin: '-12% 0px -80% 0px' });
for (const id of links.keys()) {
  const section = document.getElementById(id);
  if (section) observer.observe(section);
}
`;
