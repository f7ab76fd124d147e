import { useEffect, useRef } from 'react';
import { placeOf } from './account-path.ts';
import { Dialog } from './parts/dialog.tsx';
import { navigate, setQuery } from './router.tsx';

const accountPlaces: Record<string, string> = {
  h: '/',
  o: '/esims',
  e: '/events',
  w: '/webhooks',
  p: '/catalog',
  i: '/branding',
  c: '/consumers',
  k: '/keys',
  r: '/requests',
  a: '/audit',
};
const operatorPlaces: Record<string, string> = {
  h: '/',
  c: '/accounts',
  o: '/executions',
  w: '/endpoints',
  n: '/networks',
  p: '/processes',
  a: '/audit',
};

type Options = { onHelp(): void; isOperator: boolean; viewed: string | null };

/** Shortcuts of the whole page. They are off in fields and while a dialog is open. */
export function useKeyboard({ onHelp, isOperator, viewed }: Options): void {
  // Not of the effect: the page may be drawn again between `g` and the letter after it.
  const goesSomewhere = useRef(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      if (goesSomewhere.current) {
        goesSomewhere.current = false;
        const place = (isOperator ? operatorPlaces : accountPlaces)[event.key];
        if (place !== undefined) navigate(isOperator ? place : placeOf(place, viewed));
        return;
      }
      const done = shortcuts[event.key];
      if (event.key === 'g') goesSomewhere.current = true;
      else if (event.key === '?') onHelp();
      else if (done) {
        event.preventDefault();
        done();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [onHelp, isOperator, viewed]);
}

const shortcuts: Record<string, () => void> = {
  '/': () => document.querySelector<HTMLInputElement>('#search')?.focus(),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  c: () => focusedRow()?.querySelector<HTMLButtonElement>('button.copy')?.click(),
  f: () =>
    setQuery({
      status: new URLSearchParams(location.search).get('status') === 'failed' ? null : 'failed',
      after: null,
    }),
  '[': () => history.back(),
  ']': () => document.querySelector<HTMLButtonElement>('[data-key=older]')?.click(),
};

function focusedRow(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>('[data-row]') ?? null;
}

/** Moves the focus itself, so screen readers follow. */
function moveRow(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const current = focusedRow();
  const index = current ? rows.indexOf(current) : -1;
  const next = rows[index === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, index + by))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

const help: [keys: string, what: string][] = [
  ['/', 'search for an id, an ICCID or a reference'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['c', 'copy the row’s id'],
  ['f', 'show only failed items, or all again'],
  ['[  ]', 'go back, and show older items'],
  ['g h', 'home'],
  ['g o', 'orders'],
  ['g e', 'events'],
  ['g w', 'webhooks or endpoints'],
  ['g k', 'API keys'],
  ['g r', 'request log'],
  ['g a', 'audit log'],
  ['g p', 'catalog (operators: processes)'],
  ['g c', 'consumers (operators: accounts)'],
  ['g n', 'networks (operators)'],
];

export function KeyboardHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="keys">
        {help.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
