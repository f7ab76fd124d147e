import type { Esim } from '@simplane/sdk';
import { mayDo, scopeNeeded, useClients } from '../client.ts';
import { Action } from './action.tsx';
import { missing } from './scoped-button.tsx';

const steps: { label: string; body: Record<string, unknown> }[] = [
  { label: 'Download', body: { action: 'download' } },
  { label: 'Install', body: { action: 'install' } },
  { label: 'Enable', body: { action: 'enable' } },
  { label: 'Attach in FR', body: { action: 'attach', country: 'FR' } },
  { label: 'Use 500 MB', body: { action: 'use_data', bytes: 500_000_000 } },
  { label: 'Use 1 MB in JP', body: { action: 'use_data', bytes: 1_000_000, country: 'JP' } },
  { label: 'Use up bundle', body: { action: 'deplete_bundle' } },
  { label: 'Expire bundle', body: { action: 'expire_bundle' } },
  { label: 'Disable', body: { action: 'disable' } },
  { label: 'Delete', body: { action: 'delete' } },
];

/** There is a profile that a phone can have. */
export function canSimulate(status: Esim['status']): boolean {
  return status === 'provisioned' || status === 'active' || status === 'suspended';
}

/** What a phone and its network do, in the sandbox. */
export function Simulate({ iccid }: { iccid: string }) {
  const clients = useClients();
  if (!mayDo(clients, 'write')) return <p className="quiet">{missing(scopeNeeded(clients, 'write'))}</p>;
  return (
    <div className="row">
      {steps.map(({ label, body }) => (
        <Action
          key={label}
          label={label}
          scope="write"
          call={{ method: 'POST', path: `/v1/sandbox/esims/${iccid}/simulate`, body }}
        />
      ))}
    </div>
  );
}
