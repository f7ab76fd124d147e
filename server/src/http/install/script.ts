// 20 minutes; whoever needs longer opens the page again.
const everyMs = 3_000;
const mostQuestions = 400;

/**
 * Follows the installation: asks for the step while the page is visible, and shows it. The page works without it. It stops by itself,
 * and when the link has ended.
 */
export const script = `
(() => {
  const list = document.getElementById('steps');
  if (!list || list.dataset.step === 'online') return;
  const path = location.pathname;
  let [left, tag] = [${mostQuestions}, ''];
  const show = (step) => {
    const items = [...list.children];
    const at = items.findIndex((item) => item.dataset.step === step);
    if (at < 1 || step === 'online') return location.replace(path);
    document.querySelector('h1').textContent = items[at].dataset.heading;
    document.getElementById('say').textContent = items[at].dataset.say;
    document.getElementById('install')?.remove();
    items.forEach((item, index) => {
      item.classList.toggle('done', index <= at);
      if (index === at) item.setAttribute('aria-current', 'step');
      else item.removeAttribute('aria-current');
    });
    list.dataset.step = step;
  };
  const ask = async () => {
    if (!document.hidden) {
      left -= 1;
      const answer = await fetch(path + '/status', { headers: tag ? { 'If-None-Match': tag } : {} }).catch(() => null);
      if (answer && answer.status === 200) {
        tag = answer.headers.get('ETag') ?? '';
        const { step } = await answer.json();
        if (step !== list.dataset.step) show(step);
      } else if (answer && answer.status === 404) return;
    }
    if (left > 0) setTimeout(ask, ${everyMs});
  };
  setTimeout(ask, ${everyMs});
})();
`;
