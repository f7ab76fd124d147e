import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { OrderButton } from '../parts/order-form.tsx';
import { Panel } from '../parts/panel.tsx';
import { peek, Shown, useReading } from '../parts/reading.tsx';
import { Link } from '../router.tsx';

const hiddenKey = 'simplane.getting-started.hidden';

/** The first steps, ticked off by what the account has. */
export function GettingStarted() {
  const { api } = useClients();
  const at = useAccountPath();
  const [isHidden, setHidden] = useState(() => localStorage.getItem(hiddenKey) === 'yes');
  const reading = useReading({
    queryKey: ['getting-started'],
    isEnabled: !isHidden,
    pollMs: 10_000,
    async queryFn() {
      const [esims, active, endpoints] = await Promise.all([
        api.esims.list({ limit: 1 }),
        api.esims.list({ limit: 1, status: 'active' }),
        api.webhookEndpoints.list({ limit: 1 }),
      ]);
      return {
        hasEsim: esims.data.length > 0,
        hasActive: active.data.length > 0,
        hasEndpoint: endpoints.data.length > 0,
      };
    },
  });
  const known = peek(reading);
  const done = known && stepsOf(known).filter(({ isDone }) => isDone).length;
  if (isHidden || done === 4) return null;
  return (
    <Panel
      title="Getting started"
      aside={
        <>
          {done !== undefined && `${done} of 4`}
          <button
            type="button"
            className="plain link"
            onClick={() => {
              localStorage.setItem(hiddenKey, 'yes');
              setHidden(true);
            }}
          >
            Hide
          </button>
        </>
      }
    >
      <Shown of={reading} what="your first steps">
        {(known) => (
          <ul className="steps">
            {stepsOf(known).map(({ isDone, label, how }) => (
              <li key={label}>
                <span className={isDone ? 'ok' : 'quiet'} aria-hidden="true">
                  {isDone ? '✓' : '○'}
                </span>
                <span>
                  {label}
                  <span className="hidden">{isDone ? ', done' : ', to do'}</span>
                </span>
                {!isDone && how === 'order' && <OrderButton label="Order one" />}
                {!isDone && how === 'endpoint' && <Link to={at('/webhooks')}>Add an endpoint</Link>}
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </Panel>
  );
}

type Known = { hasEsim: boolean; hasActive: boolean; hasEndpoint: boolean };
type Step = { isDone: boolean; label: string; how?: 'order' | 'endpoint' };

function stepsOf({ hasEsim, hasActive, hasEndpoint }: Known): Step[] {
  return [
    { isDone: true, label: 'Sign in' },
    { isDone: hasEsim, label: 'Order an eSIM', how: 'order' },
    { isDone: hasActive, label: 'Simulate what a phone does: download, install, enable and attach' },
    { isDone: hasEndpoint, label: 'Send events to your server', how: 'endpoint' },
  ];
}
