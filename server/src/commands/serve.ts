import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { version } from '../config/version.ts';
import { createCoreCommands } from '../network/core/core-commands.ts';
import { createMockNetwork } from '../network/mock/mock-network.ts';
import { createPeerState } from '../network/peer-state.ts';
import type { Network } from '../network/port.ts';
import { type Clock, unixSeconds } from '../platform/clock.ts';
import { createDatabaseClock } from '../platform/db/database-clock.ts';
import { createLog } from '../platform/telemetry/log.ts';
import { type Running, serve } from '../serve.ts';
import { greeting, unusableKey } from './greeting.ts';
import { openLiveNetwork } from './live-network.ts';
import { probeTimeoutMs, startProbe } from './probe-peers.ts';
import { publishAddress } from './sandbox-address.ts';
import type { Ready } from './serve-processes.ts';
import { waitForSignal } from './wait-for-signal.ts';

/** `simplane-server serve`: runs until SIGTERM or SIGINT, then finishes the work in flight and exits 0. */
export async function serveUntilSignal(config: Config, warnings: string[]): Promise<void> {
  const stopSignal = waitForSignal(); // before anything starts, so that a signal during startup is not lost
  const log = createLog(config.logLevel);
  if (!cluster.isWorker) for (const warning of warnings) log.warn(warning);
  const clock = createDatabaseClock();
  const core = openCore(config, log, clock);
  const { network, observations, certificates, smdp, reload, close } =
    config.mode === 'sandbox'
      ? openSandboxNetwork(config, core.commands)
      : await openLiveNetwork(config, log, clock, core.commands);
  // Not in a sandbox: without a handler the signal ends it when its terminal is closed.
  if (reload) process.on('SIGHUP', () => void reload());
  if (!network && config.role !== 'api') {
    log.warn('SIMPLANE_ES2_URL is not set, so orders stay queued; see docs/connect-your-smdp.md');
  }
  const peers = [smdp, core.state].filter((state) => state !== null);
  const running = await serve(config, log, network, {
    clock,
    observations,
    core: config.coreUrl === null ? null : core.commands,
    certificates,
    peers: () => peers.map((state) => state.report()),
  });
  const unusable = unusableKey(running.sandboxKey);
  if (unusable) log.warn(unusable);
  const address = await announce(config, running, log);
  const reason = await Promise.race([stopSignal, running.lost.then((why) => ({ lost: why }))]);
  if (typeof reason === 'object') {
    log.fatal({ reason: reason.lost }, 'the embedded PostgreSQL exited');
    process.exit(1);
  }
  log.info({ signal: reason }, 'stopping');
  // Each step below has its own timeout; this is a last resort if one of them hangs.
  setTimeout(() => {
    log.error('did not stop in time');
    process.exit(1);
  }, config.shutdownTimeoutMs + 20_000).unref();
  await address?.remove();
  await running.stop();
  await close?.();
  await core.close();
  log.info('stopped');
  cluster.worker?.disconnect(); // what connects it to its parent would keep it running
}

/** Tells where it listens. A process of `SIMPLANE_PROCESSES` lets its parent tell, the first of them with a link to sign in. */
async function announce(config: Config, running: Running, log: Logger) {
  const isTerminal = process.stdout.isTTY === true;
  // Elsewhere the output is stored and read by others, who must not get the key's powers.
  const isLinked = isTerminal && (cluster.worker?.id ?? 1) === 1;
  const dashboardLink = isLinked ? ((await running.newDashboardLink?.()) ?? null) : null;
  const text = greeting(config, { ...running, dashboardLink }, { isTerminal });
  const { localUrl } = running;
  if (cluster.worker) {
    cluster.worker.send({ kind: 'ready', greeting: text, localUrl } satisfies Ready);
    return null;
  }
  const isSandboxApi = config.mode === 'sandbox' && config.role !== 'worker';
  const address = isSandboxApi ? await publishAddress(config.dataDir, localUrl, log) : null;
  process.stdout.write(text);
  return address;
}

/** The mock network. Suspend and resume go to the operator's core if one is set, to try it out before going live. */
function openSandboxNetwork(config: Config, commands: Commands) {
  const mock = createMockNetwork({ delayMs: config.mockDelayMs });
  const state = createPeerState('mock', null);
  state.connected(config.mockDelayMs);
  return {
    network: config.coreUrl === null ? mock : { ...mock, ...commands },
    observations: null,
    certificates: () => [],
    smdp: config.role === 'api' ? null : state,
    reload: undefined,
    close: undefined,
  };
}

type Commands = Pick<Network, 'suspend' | 'resume'>;

/** The operator's core. Only workers send it commands. */
function openCore({ coreUrl: url, coreSecret: secret, role }: Config, log: Logger, clock: Clock) {
  const state = url === null || role === 'api' ? null : createPeerState('core', new URL(url).host);
  const commands = createCoreCommands({
    url,
    secret,
    userAgent: `Simplane/${version}`,
    nowSeconds: () => unixSeconds(clock.nowMs()),
    ...(state && { state }),
    onTrouble: (details) => log.warn(details, 'the core did not execute a command'),
  });
  const probe = state && url !== null ? startProbe(state, () => ({ url, timeoutMs: probeTimeoutMs })) : null;
  return { commands, state, close: () => probe?.stop() };
}
