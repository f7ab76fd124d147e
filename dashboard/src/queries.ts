import { ApiError } from '@simplane/sdk';
import { QueryClient } from '@tanstack/react-query';

/** How often figures that no event announces are read again, while the tab is visible. */
export const pollMs = 5_000;

/** The SDK retries by itself, so a query does not. Queries pause in a hidden tab. */
export function createQueries(): QueryClient {
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        retry: false,
        networkMode: 'always', // the browser may be wrong about being offline; a failed request is not
        staleTime: 2_000,
        refetchOnWindowFocus: true,
        refetchIntervalInBackground: false,
      },
    },
  });
  // Events never change. To compare the payloads of 50 events of 250 kB with those read before takes a second.
  queries.setQueryDefaults(['events'], { structuralSharing: false });
  return queries;
}

/** Whether an error means that nobody is signed in any more. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
