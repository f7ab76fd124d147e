import { useClients } from './client.ts';
import { usePlace } from './router.tsx';

/** An operator sees an account's screens under `/accounts/{id}/…`, and writes there only with the scope `operator_write`. */
const accountPath = /^\/accounts\/(acct_[^/]+)(\/.*)?$/;

export function viewedAccount(path: string): string | null {
  return accountPath.exec(path)?.[1] ?? null;
}

/** The path of an account's screen without the account; null if the operator looks at none. */
export function pathInAccount(path: string): string | null {
  const found = accountPath.exec(path);
  return found && (found[2] ?? '/');
}

/** Puts an account's screen where this viewer has it. */
export function placeOf(path: string, viewed: string | null): string {
  return viewed === null ? path : `/accounts/${viewed}${path === '/' ? '' : path}`;
}

/** Returns a function that puts an account's screen where this viewer has it: an operator's are under the account. */
export function useAccountPath(): (path: string) => string {
  const { isOperator } = useClients();
  const { path } = usePlace();
  const viewed = isOperator ? viewedAccount(path) : null;
  return (screen) => placeOf(screen, viewed);
}

/** The last part of the path: the id of what a screen shows. */
export function useIdInPath(): string {
  const { path } = usePlace();
  return decodeURIComponent(path.split('/').at(-1) ?? '');
}
