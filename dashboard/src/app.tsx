import { QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { viewedAccount } from './account-path.ts';
import { type Clients, ClientsContext, createClients, useClients } from './client.ts';
import { Layout } from './layout.tsx';
import { LiveProvider } from './live/use-live.tsx';
import { ErrorNote } from './parts/error-note.tsx';
import { Loading, Shown, useReading } from './parts/reading.tsx';
import { createQueries, isSignedOut } from './queries.ts';
import { navigate, usePlace } from './router.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { findScreen } from './screens.ts';
import { resumeSession, type Session } from './session.ts';

const retryMs = 2_000;

/** Signed in or not. A link to sign in is followed even if a session exists, because it may be for another key. */
export function App() {
  const [session, setSession] = useState<Session | null | Error | 'unknown'>('unknown');
  const queries = useQueryClient();
  const { path } = usePlace();
  useEffect(() => {
    if (session !== 'unknown' && !(session instanceof Error)) return;
    const resume = () => resumeSession().then(setSession, setSession);
    const timer = setTimeout(resume, session === 'unknown' ? 0 : retryMs);
    return () => clearTimeout(timer);
  }, [session]);
  if (session === 'unknown') return <Loading what="the page" />;
  if (session instanceof Error) return <p className="empty">{session.message} Trying again…</p>;
  if (session === null || path === '/sign-in') {
    return (
      <SignIn
        onSignedIn={(next) => {
          queries.clear();
          setSession(next);
          if (path === '/sign-in') navigate('/', { replace: true });
        }}
      />
    );
  }
  return (
    <SignedIn
      session={session}
      onSignedOut={() => {
        queries.clear();
        setSession(null);
      }}
    />
  );
}

function SignedIn({ session, onSignedOut }: { session: Session; onSignedOut(): void }) {
  const { path } = usePlace();
  const isOperator = session.scopes.includes('operator');
  const account = isOperator ? viewedAccount(path) : null;
  const clients = useMemo(() => createClients(session, account ?? undefined), [session, account]);
  const { data: me, error } = useQuery({
    queryKey: ['me', account],
    queryFn: () => clients.api.me(),
    refetchInterval: 5_000, // notices a revoked key, also on a page that reads nothing else
  });
  useEffect(() => {
    if (isSignedOut(error)) onSignedOut();
  }, [error, onSignedOut]);
  if (error && !me) return <ErrorNote error={error} lead="Could not load your account." />;
  if (!me) return <Loading what="your account" />;
  const value: Clients = {
    ...clients,
    session,
    isOperator,
    mode: me.mode,
    account: me.account,
    apiKey: me.api_key,
    signedOut: onSignedOut,
  };
  const screen = (
    <Layout>
      <Screen key={path} />
    </Layout>
  );
  return (
    <ClientsContext value={value}>
      <OwnQueries key={account}>
        {isOperator && account === null ? screen : <LiveProvider>{screen}</LiveProvider>}
      </OwnQueries>
    </ClientsContext>
  );
}

/** Its code is loaded like data: that can fail too. */
function Screen() {
  const { isOperator } = useClients();
  const { path } = usePlace();
  const reading = useReading({
    queryKey: ['screen', path],
    queryFn: () => findScreen(path, isOperator)().catch(throwAdvice),
    isStatic: true,
  });
  return (
    <Shown of={reading} what="the screen">
      {({ default: Loaded }) => <Loaded />}
    </Shown>
  );
}

function throwAdvice(): never {
  throw new Error('If a newer version was installed meanwhile, reload the page.');
}

/** Remounted for each account that an operator looks at, so that no account's data is shown as another's. */
function OwnQueries({ children }: { children: ReactNode }) {
  const [queries] = useState(createQueries);
  return <QueryClientProvider client={queries}>{children}</QueryClientProvider>;
}
