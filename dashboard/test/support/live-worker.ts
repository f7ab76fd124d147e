import { reportOf } from '../../../server/src/background/report-of.ts';
import { startExecutions } from '../../../server/src/background/start-executions.ts';
import { readConfig } from '../../../server/src/config/read-config.ts';
import { createEs2Client } from '../../../server/src/network/es2plus/client.ts';
import { watchClient } from '../../../server/src/network/es2plus/watch-client.ts';
import { createPeerState } from '../../../server/src/network/peer-state.ts';
import { continueGroupRetries } from '../../../server/src/orders/operator/continue-group-retries.ts';
import { createDatabaseClock } from '../../../server/src/platform/db/database-clock.ts';
import { startHeartbeat } from '../../../server/src/platform/processes/start-heartbeat.ts';
import { every } from '../../../server/src/platform/worker/every.ts';
import type { TestService } from '../../../server/test/support/service.ts';
import type { SmdpSetup } from '../../../server/test/support/smdp-setup.ts';

/** The settings of a worker that gives up on an order as soon as it may, so that a test need not wait for that. */
const impatient = {
  SIMPLANE_MODE: 'live',
  DATABASE_URL: 'postgres://unused',
  SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
  SIMPLANE_EXECUTION_RETRY_SCHEDULE: '20ms',
};

/** What a live worker does, in this process: runs orders at the SM-DP+, goes on with retries of groups, and reports. */
export async function startLiveWorker(
  { service, db }: TestService,
  { smdp, tls, networkWith }: SmdpSetup,
  iccidRanges = '',
): Promise<{ stop(): Promise<void> }> {
  const { config } = readConfig({ ...impatient, SIMPLANE_ICCID_RANGES: iccidRanges });
  const state = createPeerState('smdp', new URL(smdp.url).host);
  const client = createEs2Client({
    url: smdp.url,
    tls: tls.client,
    protocolVersion: config.es2ProtocolVersion,
    connectTimeoutMs: 5_000,
  });
  const network = networkWith({
    client: watchClient(client, state),
    iccids: config.iccidRanges === null ? 'theirs' : 'ours',
  });
  const onError = (error: unknown) => service.log.error({ error }, 'the worker failed');
  const executions = startExecutions({ ...service, networkPauseAfter: 0 }, config, network, onError);
  const retries = every(200, (stopping) => continueGroupRetries(db, service, stopping), onError);
  const heartbeat = await startHeartbeat({
    ...{ db, newUuid: service.newUuid, role: 'worker', version: 'test', onError, beatMs: 200 },
    clock: createDatabaseClock(),
    report: () =>
      reportOf({
        ...{ config, keyring: service.keyring, certificates: () => [], peers: () => [state.report()] },
        isPaused: executions.isPaused,
        throughput: service.metrics.throughput,
        clockSkewMs: () => 0,
      }),
  });
  return {
    async stop() {
      await Promise.all([heartbeat.stop(), retries.stop(), executions.stop(5_000)]);
      await client.close();
    },
  };
}
