import type { WebhookEndpoint } from '@simplane/sdk';
import { State } from './state.tsx';

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
