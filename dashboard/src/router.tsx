import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from 'react';

/** Paths below `/dashboard`, and the query. Filters and cursors are in the URL, so any view can be sent to a colleague. */
const base = '/dashboard';

const listeners = new Set<() => void>();

function notify(): void {
  for (const listener of listeners) listener();
}

addEventListener('popstate', notify);

export function navigate(path: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', base + path);
  notify();
  if (!replace) scrollTo(0, 0);
}

export function usePlace(): { path: string; query: URLSearchParams } {
  const href = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => location.pathname + location.search,
  );
  const [path = '', query = ''] = href.split('?');
  return { path: path.slice(base.length).replace(/\/+$/, '') || '/', query: new URLSearchParams(query) };
}

/** Changes parameters of the current URL; null removes one. */
export function setQuery(changes: Record<string, string | null>, options?: { replace?: boolean }): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  navigate(location.pathname.slice(base.length) + (text && `?${text}`), options);
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };

export function Link({ to, onClick, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={base + to}
      onClick={(event: MouseEvent<HTMLAnchorElement>) => {
        onClick?.(event);
        const isPlain =
          event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
        if (event.defaultPrevented || !isPlain) return;
        event.preventDefault();
        navigate(to);
      }}
    />
  );
}
