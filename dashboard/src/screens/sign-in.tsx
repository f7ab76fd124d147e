import { useState } from 'react';
import { type Session, signIn } from '../session.ts';

/** With a key, or with a link that works once. The link waits for a click, because mail scanners open links. */
export function SignIn({ onSignedIn }: { onSignedIn(session: Session): void }) {
  const [link] = useState(() => new URLSearchParams(location.hash.slice(1)).get('link'));
  const [message, setMessage] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [usesLink, setUsesLink] = useState(link !== null);

  function enter(by: Parameters<typeof signIn>[0]): void {
    setBusy(true);
    setMessage(null);
    signIn(by)
      .then(onSignedIn, (error: unknown) => {
        setMessage(error instanceof Error ? error.message : 'Something went wrong.');
        setUsesLink(false);
      })
      .finally(() => setBusy(false));
  }

  return (
    <main className="sign-in">
      <h1>Simplane</h1>
      {usesLink && link !== null ? (
        <>
          <p>This link signs you in once.</p>
          <button type="button" className="control main" disabled={isBusy} onClick={() => enter({ link })}>
            Sign in
          </button>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const key = new FormData(event.currentTarget).get('key');
            enter({ api_key: typeof key === 'string' ? key.trim() : '' });
          }}
        >
          <label>
            API key
            <input
              name="key"
              type="password"
              autoComplete="off"
              spellCheck={false}
              required
              placeholder="sp_test_…"
            />
          </label>
          <button type="submit" className="control main" disabled={isBusy}>
            Sign in
          </button>
        </form>
      )}
      {message !== null && (
        <p role="alert" className="bad">
          ✕ {message}
        </p>
      )}
      <p className="quiet">
        Your browser does not store the key. It gets a session for 12 hours (8 hours for operators). On the
        server, <code>simplane-server dashboard-link</code> prints a link that signs in once.
      </p>
    </main>
  );
}
