import type { Page } from 'playwright-core';

/** Which requests do not get through: one by its key, or all of them. */
type Rule = { key: string | null; how: 'hold' | 'fail' };

type State = {
  asked: string[];
  open: number;
  held: (() => void)[];
  rule: Rule | null;
  /** Signing out and in again, without the server. */
  isReentering: boolean;
};

declare global {
  var requests: State;
}

/**
 * Notes what a page asks for, and holds or fails what a test names. Inside the page: Playwright's routes turn its cache off, and cost
 * CPU for each request.
 */
export async function watchRequests(page: Page) {
  await page.addInitScript(wrapFetch);
  const setRule = (rule: Rule | null) =>
    page.evaluate((rule) => {
      globalThis.requests.rule = rule;
    }, rule);
  return {
    asked: () => page.evaluate(() => [...new Set(globalThis.requests.asked)]),
    /** Shows a screen to somebody who has just signed in. */
    enter: (path: string) => page.evaluate(enterAnew, path),
    /** All that is not held has been answered, and the page has drawn it. */
    settled: () =>
      page.evaluate(async () => {
        const drawn = () =>
          new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        await drawn();
        while (globalThis.requests.open > 0) await drawn();
        await drawn();
      }),
    hold: (key: string | null) => setRule({ key, how: 'hold' }),
    /** Fails what is held and what comes. */
    async fail(key: string | null): Promise<void> {
      await setRule({ key, how: 'fail' });
      await page.evaluate(() => {
        for (const refuse of globalThis.requests.held.splice(0)) refuse();
      });
    },
    release: () => setRule(null),
  };
}

/** Runs in the page, before its own scripts. */
function wrapFetch(): void {
  const state: State = { asked: [], open: 0, held: [], rule: null, isReentering: false };
  globalThis.requests = state;
  const real = globalThis.fetch;
  const session = '/dashboard/api/session';
  const api = '/dashboard/api/v1';

  /** Without the numbers in it, such as times, and without the stream of events and who one is. */
  function keyOf(url: string, method = 'GET'): string | null {
    const { pathname, search } = new URL(url, location.href);
    if (!pathname.startsWith(api) || method !== 'GET') return null;
    const path = pathname.slice(api.length);
    if (path === '/me' || path === '/events/feed') return null;
    return path + decodeURIComponent(search).replaceAll(/\d{9,}/g, '#');
  }

  // A refusal that no client retries.
  function refusal(): Response {
    const error = { type: 'invalid_request_error', code: 'internal', message: 'Broken on purpose.' };
    return Response.json({ error }, { status: 400 });
  }

  globalThis.fetch = async (input, init) => {
    if (state.isReentering && input === session)
      return init?.method === 'DELETE' ? new Response(null, { status: 204 }) : real(session);
    const key = keyOf(String(input), init?.method);
    if (key === null) return real(input, init);
    state.asked.push(key);
    const { rule } = state;
    if (rule && (rule.key === null || rule.key === key)) {
      if (rule.how === 'fail') return refusal();
      return new Promise((resolve) => state.held.push(() => resolve(refusal())));
    }
    state.open += 1;
    try {
      const response = await real(input, init);
      return new Response(await response.arrayBuffer(), response);
    } finally {
      state.open -= 1;
    }
  };
}

/**
 * Runs in the page. Signing out forgets all that was read and signing in builds everything anew, as a reload does, which takes seven
 * times the CPU: it loads and compiles the page's own files again. The session stays the same, so that nothing is added to the audit log.
 */
async function enterAnew(path: string): Promise<void> {
  const { requests } = globalThis;
  const find = async <Found extends Element>(selector: string, text = ''): Promise<Found> => {
    for (;;) {
      const all = [...document.querySelectorAll<Found>(selector)];
      const found = all.find(({ textContent }) => textContent?.includes(text));
      if (found) return found;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  };
  requests.isReentering = true;
  (await find<HTMLButtonElement>('header button', 'Sign out')).click();
  const key = await find<HTMLInputElement>('.sign-in input[name=key]');
  Object.assign(requests, { asked: [], held: [] });
  history.pushState(null, '', `/dashboard${path}`);
  dispatchEvent(new PopStateEvent('popstate'));
  key.value = 'the one of the session';
  key.form?.requestSubmit();
  await find('nav[aria-label=Sections]');
  requests.isReentering = false;
}
