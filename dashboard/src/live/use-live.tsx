import type { WebhookEvent } from '@simplane/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { useClients } from '../client.ts';
import { followWhileVisible, type LiveState } from './follow.ts';

type Live = { state: LiveState; recent: WebhookEvent[] };

const LiveContext = createContext<Live>({ state: 'paused', recent: [] });

// No event of an account changes them.
const unchanging = new Set<unknown>(['operator', 'products', 'event_types']);
const maxRecent = 200;
// Many events in a burst read everything once.
const refreshMs = 500;

/** One stream for the whole page. Every event makes the queries on screen read again. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const { connect } = useClients();
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>('paused');
  const [recent, setRecent] = useState<WebhookEvent[]>([]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = followWhileVisible({
      connect,
      onState: setState,
      onEvent(event) {
        setRecent((events) => [event, ...events].slice(0, maxRecent));
        timer ??= setTimeout(() => {
          timer = undefined;
          queries
            .invalidateQueries({ predicate: ({ queryKey }) => !unchanging.has(queryKey[0]) })
            .catch(() => {}); // each query shows its own error
        }, refreshMs);
      },
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [connect, queries]);
  return <LiveContext value={{ state, recent }}>{children}</LiveContext>;
}

export function useLive(): Live {
  return useContext(LiveContext);
}
