import type { WebhookEndpoint } from '@simplane/sdk';
import { number } from './format.ts';
import { State } from './state.tsx';
import { Time } from './time.tsx';

type Endpoint = Pick<WebhookEndpoint, 'status' | 'failing_since' | 'failure_count' | 'disabled_reason'>;

export function Health({
  endpoint: { status, failing_since: since, failure_count: failures, disabled_reason: reason },
}: {
  endpoint: Endpoint;
}) {
  // Its owner gives no reason; the service does.
  if (status === 'disabled') return <State status={reason === undefined ? 'paused' : 'disabled'} />;
  if (since === null) return <State status="enabled" word="Healthy" />;
  return <State status="failing" word={`Failing, ${failures} ${failures === 1 ? 'failure' : 'failures'}`} />;
}

/** How many events did not arrive. The count ends at 1,000. */
export function MissedCount({
  endpoint: { missed_count: count, missed_since: since },
}: {
  endpoint: Pick<WebhookEndpoint, 'missed_count' | 'missed_since'>;
}) {
  if (count === 0) return <span className="quiet">–</span>;
  return (
    <span className="bad">
      {number(count)}
      {count >= 1_000 && '+'}
      {since !== null && (
        <>
          , since <Time at={since} />
        </>
      )}
    </span>
  );
}
