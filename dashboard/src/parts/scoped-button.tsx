import type { ReactNode } from 'react';
import { mayDo, scopeNeeded, useClients } from '../client.ts';

type Props = {
  /** The scope that the key needs. Without it the button is disabled and says so. */
  scope: string;
  kind?: 'main' | 'danger' | undefined;
  isBusy?: boolean;
  onClick(): void;
  children: ReactNode;
};

export function ScopedButton({ scope, kind, isBusy = false, onClick, children }: Props) {
  const clients = useClients();
  const isAllowed = mayDo(clients, scope);
  const needed = scopeNeeded(clients, scope);
  return (
    <button
      type="button"
      className={`control ${kind ?? ''}`}
      disabled={!isAllowed || isBusy}
      title={isAllowed ? undefined : missing(needed)}
      onClick={onClick}
    >
      {children}
      {!isAllowed && <span className="why"> needs “{needed}”</span>}
    </button>
  );
}

/** In words, for what has no button. */
export function missing(scope: string): string {
  return `This needs a key with the scope “${scope}”.`;
}
