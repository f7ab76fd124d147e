import { type ReactNode, useEffect, useRef, useState } from 'react';
import { placeOf, viewedAccount } from './account-path.ts';
import { mayDo, useClients } from './client.ts';
import { KeyboardHelp, useKeyboard } from './keyboard.tsx';
import { toggleCalls, useShowsCalls } from './parts/api-calls.ts';
import { Link, usePlace } from './router.tsx';
import { SearchField } from './search.tsx';
import { signOut } from './session.ts';

type Entry = { to: string; label: string };

const accountEntries: { group: string | null; entries: Entry[] }[] = [
  {
    group: null,
    entries: [
      { to: '/', label: 'Home' },
      { to: '/esims', label: 'Orders & eSIMs' },
      { to: '/events', label: 'Events' },
      { to: '/webhooks', label: 'Webhooks' },
      { to: '/catalog', label: 'Catalog' },
      { to: '/branding', label: 'Install page' },
    ],
  },
  {
    group: 'Developers',
    entries: [
      { to: '/keys', label: 'API keys' },
      { to: '/consumers', label: 'Consumers' },
      { to: '/requests', label: 'Request log' },
      { to: '/audit', label: 'Audit log' },
    ],
  },
];

const operatorEntries: typeof accountEntries = [
  {
    group: null,
    entries: [
      { to: '/', label: 'Overview' },
      { to: '/accounts', label: 'Accounts' },
      { to: '/executions', label: 'Orders' },
      { to: '/endpoints', label: 'Endpoints' },
    ],
  },
  {
    group: 'Deployment',
    entries: [
      { to: '/networks', label: 'Networks & stock' },
      { to: '/processes', label: 'Processes' },
      { to: '/products', label: 'Catalog' },
      { to: '/audit', label: 'Audit log' },
    ],
  },
];

export function Layout({ children }: { children: ReactNode }) {
  const clients = useClients();
  const { path } = usePlace();
  const viewed = clients.isOperator ? viewedAccount(path) : null;
  const isOperatorsView = clients.isOperator && viewed === null;
  const main = useRef<HTMLElement>(null);
  const side = useRef<HTMLElement>(null);
  // On a phone the sections scroll sideways. `path` decides which one is the current.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is read from the page
  useEffect(() => {
    const current = side.current?.querySelector('[aria-current]');
    current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [path]);
  const showsCalls = useShowsCalls();
  const [showsHelp, setShowsHelp] = useState(false);
  useKeyboard({ onHelp: () => setShowsHelp(true), isOperator: isOperatorsView, viewed });
  useEffect(() => {
    const title = main.current?.querySelector('h1')?.textContent;
    document.title = title ? `${title} · Simplane` : 'Simplane';
  });
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <Link to="/" className="brand">
          Simplane
        </Link>
        <span className="label">{isOperatorsView ? 'Operator' : (clients.account?.name ?? 'Account')}</span>
        <span className={`mode ${clients.mode}`}>{clients.mode === 'live' ? 'Live' : 'Sandbox'}</span>
        {viewed !== null && (
          <span className="read-only">
            {mayDo(clients, 'write') ? 'what you do here is audited' : 'read-only'} ·{' '}
            <Link to="/">back to the operator’s view</Link>
          </span>
        )}
        <SearchField />
        <button
          type="button"
          className="control calls"
          aria-pressed={showsCalls}
          title="Show the API call of each action as curl"
          onClick={toggleCalls}
        >
          API calls
        </button>
        <details className="who">
          <summary>
            <span className="name">{clients.apiKey.name}</span> <code>…{clients.apiKey.last4}</code>
          </summary>
          <div className="popover">
            <p className="quiet">Scopes: {clients.apiKey.scopes.join(', ')}</p>
            <button
              type="button"
              className="control"
              onClick={() => {
                // Offline, the session ends by itself; the page forgets it in any case.
                signOut(clients.session)
                  .catch(() => {})
                  .finally(() => clients.signedOut());
              }}
            >
              Sign out
            </button>
          </div>
        </details>
      </header>
      <div className="layout">
        <nav className="side" aria-label="Sections" ref={side}>
          {(isOperatorsView ? operatorEntries : accountEntries).map(({ group, entries }) => (
            <div key={group ?? 'first'}>
              {group !== null && <h2>{group}</h2>}
              <ul>
                {entries.map(({ to, label }) => (
                  <li key={to}>
                    <Link
                      to={placeOf(to, viewed)}
                      aria-current={isCurrent(path, placeOf(to, viewed)) ? 'page' : undefined}
                    >
                      {label}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ))}
          <div>
            <h2>Learn</h2>
            <ul>
              <li>
                <a href="/docs">API reference</a>
              </li>
            </ul>
            <p className="quiet">
              <button type="button" className="plain" onClick={() => setShowsHelp(true)}>
                <kbd>?</kbd> keyboard
              </button>
            </p>
          </div>
        </nav>
        <main id="main" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
      {showsHelp && <KeyboardHelp onClose={() => setShowsHelp(false)} />}
    </>
  );
}

function isCurrent(path: string, to: string): boolean {
  const isHome = to === '/' || /^\/accounts\/[^/]+$/.test(to);
  return path === to || (!isHome && path.startsWith(`${to}/`));
}
