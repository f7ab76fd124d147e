import { SimplaneError } from '@simplane/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { mayDo, useClients } from '../client.ts';
import { type ApiCall, curlOf } from './call.ts';
import { CodeBlock } from './code-block.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

type Confirmation = { id: string; effect: string };

type Props = {
  label: string;
  call: ApiCall;
  /** The scope that the key needs. Without it the button is disabled and says so. */
  scope: string;
  /** Says what will happen, and asks for the last four characters of the id first. */
  confirm?: Confirmation;
  kind?: 'main' | 'danger';
  onDone?: (answer: unknown) => void;
};

/**
 * A button that calls the API, with the same call as curl beside it. The idempotency key is made when the button is drawn, so a
 * double click is one call, and a click after a lost answer repeats it. Once the call has ended, there is a new one.
 */
export function Action({ label, call, scope, confirm, kind, onDone }: Props) {
  const clients = useClients();
  const queries = useQueryClient();
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
  const isAllowed = mayDo(clients, scope);
  const why = isAllowed ? undefined : `This needs a key with the scope “${scope}”.`;
  return (
    <span className="action">
      <span className="halves">
        <button
          type="button"
          className={`control ${kind ?? ''}`}
          disabled={!isAllowed || mutation.isPending}
          title={why}
          onClick={() => (confirm === undefined ? mutation.mutate() : setAsks('confirm'))}
        >
          {confirm === undefined ? label : `${label}…`}
        </button>
        <button
          type="button"
          className="control curl"
          aria-label={`${label}: show as curl`}
          onClick={() => setAsks('curl')}
        >
          curl
        </button>
      </span>
      {!isAllowed && <span className="hidden">{why}</span>}
      {asks === 'curl' && (
        <Dialog title={`${label}, with curl`} onClose={() => setAsks(null)}>
          <CodeBlock text={curlOf(call, { idempotencyKey: key.current })} what="curl command" />
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

type ConfirmProps = Confirmation & {
  title: string;
  isBusy: boolean;
  error: Error | null;
  onConfirm(): void;
  onClose(): void;
};

function Confirm({ title, id, effect, isBusy, error, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const end = id.slice(-4);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === end) onConfirm();
        }}
      >
        <p>
          {effect} To confirm, type the last four characters of <code>{id}</code>.
        </p>
        <div className="row">
          <input
            aria-label="Last four characters"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
          <button type="submit" className="control danger" disabled={typed !== end || isBusy}>
            {title}
          </button>
        </div>
        {error && <ErrorNote error={error} />}
      </form>
    </Dialog>
  );
}
