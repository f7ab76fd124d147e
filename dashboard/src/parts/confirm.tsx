import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

export type Confirmation = {
  /** What ends, and when. */
  effect: ReactNode;
  /** Its last four characters must be typed: it cannot be undone. */
  id?: string;
};

type Props = Confirmation & {
  title: string;
  isBusy: boolean;
  error: Error | null;
  onConfirm(): void;
  onClose(): void;
};

/** Asks before something ends. */
export function Confirm({ title, id, effect, isBusy, error, onConfirm, onClose }: Props) {
  const [typed, setTyped] = useState('');
  const isSure = id === undefined || typed === id.slice(-4);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isSure) onConfirm();
        }}
      >
        <p>{effect}</p>
        {id !== undefined && (
          <p>
            To confirm, type the last four characters of <code>{id}</code>.
          </p>
        )}
        <div className="row">
          {id !== undefined && (
            <input
              aria-label="Last four characters"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              autoComplete="off"
              spellCheck={false}
            />
          )}
          <button type="submit" className="control danger" disabled={!isSure || isBusy}>
            {title}
          </button>
        </div>
        {error && <ErrorNote error={error} />}
      </form>
    </Dialog>
  );
}
