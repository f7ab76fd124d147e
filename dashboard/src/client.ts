import {
  createOperator,
  createSimplane,
  type Operator,
  type Simplane,
  type SimplaneOptions,
} from '@simplane/sdk';
import { createContext, useContext } from 'react';
import type { Session } from './session.ts';

export type Clients = {
  /** Calls an account's operations. For an operator: those of the account that is looked at. */
  api: Simplane;
  /** Another client like `api`, which reports its answers. */
  connect: Connect;
  operator: Operator;
  session: Session;
  isOperator: boolean;
  mode: 'sandbox' | 'live';
  /** The account of the key, or the one that an operator looks at. */
  account: { id: string; name: string } | null;
  apiKey: { id: string; name: string; last4: string; scopes: string[] };
  signedOut(): void;
};

export type Connect = (onResponse: SimplaneOptions['onResponse']) => Simplane;

/** The SDK, calling through the session instead of with a key. */
function optionsFor(session: Session) {
  return {
    apiKey: 'session', // required by the SDK, and not sent
    baseUrl: `${location.origin}/dashboard/api`,
    maxRetries: 2,
    fetch(url: string, init: RequestInit): Promise<Response> {
      const headers = new Headers(init.headers);
      headers.delete('Authorization');
      headers.delete('User-Agent');
      if (init.method !== 'GET') headers.set('X-CSRF-Token', session.csrfToken);
      return fetch(url, { ...init, headers });
    },
  };
}

export function createClients(session: Session, serviceAccount?: string) {
  const options = optionsFor(session);
  return {
    api: createSimplane({ ...options, serviceAccount }),
    connect: ((onResponse) => createSimplane({ ...options, serviceAccount, onResponse })) as Connect,
    operator: createOperator(options),
  };
}

export const ClientsContext = createContext<Clients | null>(null);

export function useClients(): Clients {
  const clients = useContext(ClientsContext);
  if (!clients) throw new Error('this part of the page needs a session');
  return clients;
}

/** The scope that this key would need. In an account, an operator's key writes with a scope of its own. */
export function scopeNeeded({ isOperator }: Clients, scope: string): string {
  return isOperator && (scope === 'write' || scope === 'install') ? 'operator_write' : scope;
}

/** Whether the key may do something. `write` includes `install`. */
export function mayDo(clients: Clients, scope: string): boolean {
  const { scopes } = clients.apiKey;
  return scopes.includes(scopeNeeded(clients, scope)) || (scope === 'install' && scopes.includes('write'));
}
