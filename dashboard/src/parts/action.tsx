import { SimplaneError } from '@simplane/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useClients } from '../client.ts';
import { useShowsCalls } from './api-calls.ts';
import { type ApiCall, curlOf } from './call.ts';
import { CodeBlock } from './code-block.tsx';
import { Confirm, type Confirmation } from './confirm.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';
import { ScopedButton } from './scoped-button.tsx';

type Props = {
  label: string;
  call: ApiCall;
  scope: string;
  /** For what ends something: says what and when, and asks first. */
  confirm?: Confirmation;
  kind?: 'main' | 'danger';
  onDone?: (answer: unknown) => void;
};

/**
 * A button that calls the API; with “API calls” on, the same call as curl beside it. The idempotency key is made when the button is
 * drawn, so a double click is one call, and a click after a lost answer repeats it. Once the call has ended, there is a new one.
 */
export function Action({ label, call, scope, confirm, kind, onDone }: Props) {
  const clients = useClients();
  const queries = useQueryClient();
  const showsCalls = useShowsCalls();
  const key = useRef(crypto.randomUUID());
  const [asks, setAsks] = useState<'confirm' | 'curl' | null>(null);
  const mutation = useMutation({
    mutationFn: () =>
      (call.path.startsWith('/v1/operator/') ? clients.operator : clients.api).request(call, {
        idempotencyKey: key.current,
      }),
    async onSuccess(answer) {
      key.current = crypto.randomUUID();
      setAsks(null);
      onDone?.(answer);
      await queries.invalidateQueries();
    },
    onError(error) {
      // After a refusal, the old one would repeat the refusal for ever.
      if (error instanceof SimplaneError && !error.mayHaveTakenEffect) key.current = crypto.randomUUID();
    },
  });
  const isOperators = call.path.startsWith('/v1/operator/');
  const serviceAccount = clients.isOperator && !isOperators ? clients.account?.id : undefined;
  return (
    <span className="action">
      <span className="halves">
        <ScopedButton
          scope={scope}
          kind={kind}
          isBusy={mutation.isPending}
          onClick={() => (confirm === undefined ? mutation.mutate() : setAsks('confirm'))}
        >
          {confirm === undefined ? label : `${label}…`}
        </ScopedButton>
        {showsCalls && (
          <button
            type="button"
            className="control curl"
            aria-label={`${label}: show as curl`}
            onClick={() => setAsks('curl')}
          >
            curl
          </button>
        )}
      </span>
      {asks === 'curl' && (
        <Dialog title={`${label}, with curl`} onClose={() => setAsks(null)}>
          <CodeBlock
            text={curlOf(call, {
              idempotencyKey: key.current,
              ...(serviceAccount !== undefined && { serviceAccount }),
            })}
            what="curl command"
          />
        </Dialog>
      )}
      {asks === 'confirm' && confirm !== undefined && (
        <Confirm
          title={label}
          {...confirm}
          isBusy={mutation.isPending}
          error={mutation.error}
          onConfirm={() => mutation.mutate()}
          onClose={() => setAsks(null)}
        />
      )}
      {mutation.isError && asks !== 'confirm' && <ErrorNote error={mutation.error} />}
    </span>
  );
}
