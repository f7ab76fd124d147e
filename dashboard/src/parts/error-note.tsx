import { ApiError } from '@simplane/sdk';
import { type ReactNode, useContext } from 'react';
import { placeOf, viewedAccount } from '../account-path.ts';
import { ClientsContext } from '../client.ts';
import { usePlace } from '../router.tsx';
import { Id } from './id.tsx';

type Props = {
  error: unknown;
  /** What could not be done. */
  lead?: string;
  /** What can be done now. */
  children?: ReactNode;
};

/** What went wrong, in the API's words, with the request to quote and the page that explains the code. */
export function ErrorNote({ error, lead, children }: Props) {
  const api = error instanceof ApiError ? error : null;
  return (
    <div className="error-note" role="alert">
      <p>
        <span aria-hidden="true">✕</span> {lead}{' '}
        {error instanceof Error ? error.message : 'Something went wrong.'}
      </p>
      {(api || children) && (
        <p className="row quiet">
          {children}
          {api?.code && (
            <a href={`/docs#error-${api.code}`}>
              <code>{api.code}</code>
            </a>
          )}
          {api?.requestId && <RequestId id={api.requestId} />}
        </p>
      )}
    </div>
  );
}

/** Only an account has a request log: an operator's own requests are in none. */
function RequestId({ id }: { id: string }) {
  const clients = useContext(ClientsContext);
  const viewed = viewedAccount(usePlace().path);
  const hasLog = clients !== null && (!clients.isOperator || viewed !== null);
  return (
    <Id id={id} {...(hasLog && { to: placeOf(`/requests/${id}`, clients.isOperator ? viewed : null) })} />
  );
}
