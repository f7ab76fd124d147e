/** Adds copy buttons, highlights the current section in the contents and closes the contents after a click. The page works without it. */
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
