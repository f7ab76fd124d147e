import type { RecoveryPreview, WebhookEndpoint } from '@simplane/sdk';
import { useState } from 'react';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { number } from '../parts/format.ts';
import { Shown, useReading } from '../parts/reading.tsx';

const hours = [1, 6, 24, 24 * 7, 24 * 30];

/** Delivers what the endpoint has not received of a time, after showing how much that is. */
export function RecoverSince({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { api } = useClients();
  const [chosen, setChosen] = useState<{ hours: number; since: number } | null>(null);
  const since = chosen?.since ?? null;
  const reading = useReading({
    queryKey: ['recovery_preview', endpoint.id, since],
    queryFn: () => api.webhookEndpoints.recover(endpoint.id, { since: since ?? 0, dry_run: true }),
    isEnabled: since !== null,
  });
  return (
    <div className="form">
      <label>
        Every event of the last
        <select
          value={chosen?.hours ?? ''}
          onChange={({ target: { value } }) => setChosen(value === '' ? null : lastHours(Number(value)))}
        >
          <option value="">choose…</option>
          {hours.map((count) => (
            <option key={count} value={count}>
              {count < 48 ? `${count} h` : `${count / 24} days`}
            </option>
          ))}
        </select>
      </label>
      {since !== null && (
        <Shown of={reading} what="what it missed">
          {(preview) => (
            <>
              <Missed preview={preview} />
              {preview.event_count > 0 && endpoint.status === 'enabled' && (
                <Action
                  label="Recover them"
                  scope="write"
                  call={{
                    method: 'POST',
                    path: `/v1/webhook_endpoints/${endpoint.id}/recover`,
                    body: { since },
                  }}
                  onDone={() => setChosen(null)}
                />
              )}
            </>
          )}
        </Shown>
      )}
    </div>
  );
}

function Missed({ preview: { capped, event_count: count, types } }: { preview: RecoveryPreview }) {
  return (
    <p>
      {capped ? 'At least ' : ''}
      <b>{number(count)}</b> events were not delivered to it
      {types.length > 0 && ': '}
      {types.map(({ type, count }) => `${type} (${number(count)})`).join(', ')}.
    </p>
  );
}

function lastHours(hours: number) {
  return { hours, since: Math.floor(Date.now() / 1_000) - hours * 3_600 };
}
