import type { WebhookEndpoint } from '@simplane/sdk';
import { State } from './state.tsx';

type Endpoint = Pick<WebhookEndpoint, 'status' | 'failing_since' | 'failure_count'>;

export function Health({
  endpoint: { status, failing_since: since, failure_count: failures },
}: {
  endpoint: Endpoint;
}) {
  if (status === 'disabled') return <State status="disabled" />;
  if (since === null) return <State status="enabled" word="Healthy" />;
  return <State status="failing" word={`Failing, ${failures} ${failures === 1 ? 'failure' : 'failures'}`} />;
}
