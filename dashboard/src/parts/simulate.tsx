import { Action } from './action.tsx';

const steps: { label: string; body: Record<string, unknown> }[] = [
  { label: 'Download', body: { action: 'download' } },
  { label: 'Install', body: { action: 'install' } },
  { label: 'Enable', body: { action: 'enable' } },
  { label: 'Attach in FR', body: { action: 'attach', country: 'FR' } },
  { label: 'Use 500 MB', body: { action: 'use_data', bytes: 500_000_000 } },
  { label: 'Expire bundle', body: { action: 'expire_bundle' } },
  { label: 'Disable', body: { action: 'disable' } },
  { label: 'Delete', body: { action: 'delete' } },
];

/** What a phone and its network do, in the sandbox. */
export function Simulate({ iccid }: { iccid: string }) {
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
