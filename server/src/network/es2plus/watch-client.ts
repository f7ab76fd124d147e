import type { PeerState } from '../peer-state.ts';
import type { Es2Client } from './client.ts';
import { describeRemedy, isGatewayError } from './outcomes.ts';

/** The same client. The outcome of each call is noted for the operator. */
export function watchClient<Client extends Es2Client>(client: Client, state: PeerState): Client {
  return {
    ...client,
    async post(...request: Parameters<Es2Client['post']>) {
      const startedMs = performance.now();
      const posted = await client.post(...request);
      const tookMs = performance.now() - startedMs;
      if (posted.kind === 'answered') {
        const { status } = posted;
        const problem = status === 200 ? null : withRemedy(`HTTP ${status}`, describeRemedy(posted));
        if (isGatewayError(status)) state.failed(`${problem}: ${gatewayUp}`, { isGateway: true });
        else state.answered(tookMs, problem);
      } else {
        const problem = withRemedy(posted.error, describeRemedy(posted.why));
        const isReadable = posted.why === 'too-large' || posted.why === 'not-json';
        if (isReadable) state.answered(tookMs, problem);
        else state.failed(problem);
      }
      return posted;
    },
  };
}

const gatewayUp = 'its gateway is up, but the SM-DP+ behind it is down';

function withRemedy(problem: string, remedy: string | null): string {
  return remedy === null ? problem : `${problem}; ${remedy}`;
}
