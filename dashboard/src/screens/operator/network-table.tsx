import type { Network } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { duration } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Shown, useReading } from '../../parts/reading.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';
import { Link } from '../../router.tsx';

const names = { smdp: 'SM-DP+', core: 'Core network', mock: 'Mock network' };

export function NetworkTable() {
  const { operator } = useClients();
  const reading = useReading({
    queryKey: ['operator', 'networks'],
    queryFn: async () => (await operator.networks.list()).data,
    pollMs,
  });
  return (
    <Panel title="Networks">
      <Shown of={reading} what="the networks">
        {(networks) => <Networks networks={networks} />}
      </Shown>
    </Panel>
  );
}

function Networks({ networks }: { networks: Network[] }) {
  return (
    <Table<Network>
      caption="Networks"
      rows={networks}
      keyOf={({ kind, host }) => `${kind} ${host}`}
      empty="No worker has reported yet."
      columns={[
        {
          name: 'Network',
          cell: ({ kind, host }) => (
            <>
              <b>{names[kind]}</b> {host !== null && <code>{host}</code>}
            </>
          ),
        },
        { name: 'State', cell: (network) => <Reached network={network} /> },
        {
          name: 'Latency',
          cell: ({ latency_ms: ms }) => (ms === null ? '–' : duration(ms)),
          isNumber: true,
        },
        {
          name: 'Last error',
          cell: ({ last_error: last }) =>
            last === null ? (
              'none'
            ) : (
              <>
                {last.message} <Time at={last.at} />
              </>
            ),
        },
        {
          name: 'Certificate expires',
          cell: ({ certificate_ends_at: end }) => (end === null ? '–' : <Time at={end} />),
        },
      ]}
    />
  );
}

function Reached({ network: { reachable, paused, unreachable_from: from } }: { network: Network }) {
  if (paused)
    return (
      <>
        <State status="paused" word="Paused after gateway errors" /> <p className="quiet">{ordersWait}</p>
      </>
    );
  if (reachable === null) return <State status="queued" word="Not checked yet" />;
  if (reachable) return <State status="active" word="Reachable" />;
  return (
    <>
      <State status="failed" word="Unreachable" /> from{' '}
      <Link to="/processes">{from.length === 1 ? 'one process' : `${from.length} processes`}</Link>
      <p className="quiet">{ordersWait}</p>
    </>
  );
}

const ordersWait =
  'Orders wait and continue when it answers. Those that failed are listed under “Failures, by cause”.';
