import { Copy } from './copy.tsx';

/** A new secret: shown now, and never again. */
export function SecretOnce({ secret, what, onDone }: { secret: string; what: string; onDone(): void }) {
  return (
    <div className="form">
      <p>Copy the {what} now: it is not shown again.</p>
      <div className="row">
        <code className="chip secret">{secret}</code>
        <Copy text={secret} what={what} label="Copy" />
      </div>
      <button type="button" className="control main" onClick={onDone}>
        I have stored it
      </button>
    </div>
  );
}
