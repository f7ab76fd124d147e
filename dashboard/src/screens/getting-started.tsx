import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Panel } from '../parts/panel.tsx';
import { Link } from '../router.tsx';

const hiddenKey = 'simplane.getting-started.hidden';

/** The first steps, ticked off by what the account has. */
export function GettingStarted({ onOrder }: { onOrder(): void }) {
  const { api } = useClients();
  const at = useAccountPath();
  const [isHidden, setHidden] = useState(() => localStorage.getItem(hiddenKey) === 'yes');
  const { data } = useQuery({
    queryKey: ['getting-started'],
    enabled: !isHidden,
    refetchInterval: 10_000,
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
  if (isHidden || !data) return null;
  const steps = [
    { isDone: true, label: 'Sign in' },
    {
      isDone: data.hasEsim,
      label: 'Order an eSIM',
      how: (
        <button type="button" className="control" onClick={onOrder}>
          Order one
        </button>
      ),
    },
    { isDone: data.hasActive, label: 'Simulate what a phone does: download, install, enable and attach' },
    {
      isDone: data.hasEndpoint,
      label: 'Send events to your server',
      how: <Link to={at('/webhooks')}>Add an endpoint</Link>,
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  return (
    <Panel
      title="Getting started"
      aside={
        <>
          {done} of {steps.length}
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
      <ul className="steps">
        {steps.map(({ isDone, label, how }) => (
          <li key={label}>
            <span className={isDone ? 'ok' : 'quiet'} aria-hidden="true">
              {isDone ? '✓' : '○'}
            </span>
            <span>
              {label}
              <span className="hidden">{isDone ? ', done' : ', to do'}</span>
            </span>
            {!isDone && how}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
