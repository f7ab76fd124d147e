import { useId, useState } from 'react';
import { useEventTypes } from '../event-types.ts';
import { Action } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { peek } from '../parts/reading.tsx';
import { UnknownType } from '../parts/unknown-type.tsx';

export function SendTestEvent({ onClose }: { onClose(): void }) {
  const [type, setType] = useState('esim.provisioned');
  const [text, setText] = useState('{"hello": "world"}');
  const data = parse(text);
  const list = useId();
  const types = peek(useEventTypes());
  return (
    <Dialog title="Send a test event" onClose={onClose}>
      <div className="form">
        <label>
          Type
          <input
            value={type}
            list={list}
            onChange={(event) => setType(event.target.value.trim())}
            spellCheck={false}
          />
        </label>
        <datalist id={list}>
          {types?.map(({ type }) => (
            <option key={type} value={type} />
          ))}
        </datalist>
        <UnknownType type={type} onReplace={setType} />
        <label>
          Data
          <textarea
            rows={6}
            value={text}
            onChange={(event) => setText(event.target.value)}
            spellCheck={false}
          />
        </label>
        {data === null ? (
          <p className="bad">✕ Data must be a JSON object.</p>
        ) : (
          <Action
            label="Send"
            kind="main"
            scope="write"
            call={{ method: 'POST', path: '/v1/events/test', body: { type, data } }}
            onDone={onClose}
          />
        )}
      </div>
    </Dialog>
  );
}

function parse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
