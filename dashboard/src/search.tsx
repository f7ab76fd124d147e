import { useState } from 'react';
import { viewedAccount } from './account-path.ts';
import { useClients } from './client.ts';
import { navigate } from './router.tsx';
import { findPlaces, type Hit } from './search-places.ts';

/** Finds any id and goes there; several hits are listed. */
export function SearchField() {
  const clients = useClients();
  const [hits, setHits] = useState<Hit[] | null>(null);
  const [message, setMessage] = useState<string | null>(null);

  async function search(text: string): Promise<void> {
    setHits(null);
    setMessage(null);
    if (text === '') return;
    try {
      const viewed = viewedAccount(location.pathname.replace('/dashboard', ''));
      const { hits: found, missing } = await findPlaces(clients, text, viewed);
      const [only] = found;
      if (missing !== null) setMessage(missing);
      if (found.length === 1 && only?.to && missing === null) go(only.to);
      else if (only) setHits(found);
      else
        setMessage(`Nothing was found for “${text.slice(0, 60)}”.${missing === null ? '' : ` ${missing}`}`);
    } catch (error) {
      setMessage(error instanceof Error ? error.message : 'The search failed.');
    }
  }

  function go(to: string): void {
    setHits(null);
    setMessage(null);
    navigate(to);
  }

  return (
    <search className="search">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = new FormData(event.currentTarget).get('q');
          search(typeof text === 'string' ? text.trim() : '').catch(() => setMessage('The search failed.'));
        }}
      >
        <input
          id="search"
          name="q"
          type="search"
          autoComplete="off"
          spellCheck={false}
          aria-label="Search for a reference, an ICCID or an id"
          placeholder="Reference, ICCID or its end, any id"
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            setHits(null);
            setMessage(null);
            event.currentTarget.blur();
          }}
        />
        <span className="key">/</span>
      </form>
      <div role="status" className={hits || message ? 'popover' : 'hidden'}>
        {message}
        {hits && (
          <ul>
            {hits.map(({ to, label, about }) => (
              <li key={`${label} ${to ?? about}`}>
                {to === null ? (
                  <>
                    <code>{label}</code> <span className="quiet">{about}</span>
                  </>
                ) : (
                  <button type="button" className="plain" onClick={() => go(to)}>
                    <code>{label}</code> <span className="quiet">{about}</span>
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
    </search>
  );
}
