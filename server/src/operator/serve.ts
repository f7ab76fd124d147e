import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { version } from '../config/version.ts';
import { createCoreCommands } from '../network/core/core-commands.ts';
import { createMockNetwork } from '../network/mock/mock-network.ts';
import type { Network } from '../network/port.ts';
import { serve } from '../serve.ts';
import { createLog } from '../telemetry/log.ts';
import { greeting, unusableKey } from './greeting.ts';
import { openLiveNetwork } from './live-network.ts';
import { publishAddress } from './sandbox-address.ts';

/** `simplane-server serve`: runs until SIGTERM or SIGINT, then finishes the work in flight and exits 0. */
export async function serveUntilSignal(config: Config, warnings: string[]): Promise<void> {
  const stopSignal = waitForSignal(); // before anything starts, so that a signal during startup is not lost
  const log = createLog(config.logLevel);
  for (const warning of warnings) log.warn(warning);
  const { network, observations, certificates, reload, close } =
    config.mode === 'sandbox'
      ? { ...noCertificates, network: sandboxNetwork(config, log), observations: null }
      : await openLiveNetwork(config, log, coreCommands(config, log));
  // Not in a sandbox: without a handler the signal ends it when its terminal is closed.
  if (reload) process.on('SIGHUP', () => void reload());
  if (!network && config.role !== 'api') {
    log.warn('SIMPLANE_ES2_URL is not set, so orders stay queued; see docs/connect-your-smdp.md');
  }
  const running = await serve(config, log, network, observations, certificates);
  const unusable = unusableKey(running.sandboxKey);
  if (unusable) log.warn(unusable);
  const isSandboxApi = config.mode === 'sandbox' && config.role !== 'worker';
  const address = isSandboxApi ? await publishAddress(config.dataDir, running.localUrl, log) : null;
  process.stdout.write(greeting(config, running, { isTerminal: process.stdout.isTTY === true }));
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
  log.info('stopped');
}

const noCertificates = { certificates: () => [], reload: undefined, close: undefined };

/** The mock network. Suspend and resume go to the operator's core if one is set, to try it out before going live. */
function sandboxNetwork(config: Config, log: Logger): Network {
  const mock = createMockNetwork({ delayMs: config.mockDelayMs });
  return config.coreUrl === null ? mock : { ...mock, ...coreCommands(config, log) };
}

function coreCommands({ coreUrl: url, coreSecret: secret }: Config, log: Logger) {
  const onTrouble = (details: object) => log.warn(details, 'the core did not execute a command');
  return createCoreCommands({ url, secret, userAgent: `Simplane/${version}`, onTrouble });
}

/** Resolves with the first signal. Another one, a second or more later, exits at once. */
function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null;
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        firstAtMs ??= performance.now();
        // Under `npm start` one Ctrl-C arrives twice: from the terminal and from npm.
        if (performance.now() - firstAtMs > 1_000) process.exit(1);
        resolve(name);
      });
    }
  });
}
