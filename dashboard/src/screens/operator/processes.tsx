import type { Process } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { PageHeader, Panel } from '../../parts/panel.tsx';
import { ListTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';

export default function Processes() {
  const { operator } = useClients();
  return (
    <>
      <PageHeader title="Processes" about="A process that is gone disappears within 30 seconds." />
      <Panel title="Running">
        <ListTable<Process>
          caption="Running processes"
          what="the processes"
          queryKey={['operator', 'processes']}
          pollMs={pollMs}
          read={(page) => operator.processes.list(page)}
          keyOf={({ id }) => id}
          columns={[
            { name: 'Role', cell: ({ role }) => <b>{role}</b> },
            {
              name: 'Process',
              cell: ({ host, pid }) => (
                <code>
                  {host}:{pid}
                </code>
              ),
            },
            { name: 'Version', cell: ({ version }) => version },
            { name: 'Clock ahead', cell: ({ clock_skew_ms: ms }) => <Skew ms={ms} /> },
            { name: 'Started', cell: ({ since }) => <Time at={since} /> },
            { name: 'Seen', cell: ({ last_seen_at: seen }) => <Time at={seen} />, isTime: true },
          ]}
        />
      </Panel>
    </>
  );
}

// As the overview warns.
const offAboveMs = 2_000;

/** What differs by less than a tenth of a second is network latency. */
function Skew({ ms }: { ms: number | null }) {
  if (ms === null) return '–';
  const seconds = `${(ms / 1000).toFixed(1)} s`;
  return Math.abs(ms) > offAboveMs ? <span className="warn">▲ {seconds}</span> : seconds;
}
