import { ApiError } from '@simplane/sdk';
import { Id } from './id.tsx';

/** What went wrong, in the API's words, with the request to quote and the page that explains the code. */
export function ErrorNote({ error }: { error: unknown }) {
  const api = error instanceof ApiError ? error : null;
  return (
    <div className="error-note" role="alert">
      <p>
        <span aria-hidden="true">✕</span> {error instanceof Error ? error.message : 'Something went wrong.'}
      </p>
      {api && (
        <p className="quiet">
          {api.code && (
            <a href={`/docs#error-${api.code}`}>
              <code>{api.code}</code>
            </a>
          )}{' '}
          {api.requestId && <Id id={api.requestId} to={`/requests/${api.requestId}`} />}
        </p>
      )}
    </div>
  );
}
