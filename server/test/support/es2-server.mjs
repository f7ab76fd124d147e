// A live server with the real ES2+ driver. ES2_ICCIDS says who supplies ICCIDs; DIE_AT names the step to die after.

import { readEs2Settings } from '../../dist/commands/live-network.js';
import { readConfig } from '../../dist/config/read-config.js';
import { createEs2Client } from '../../dist/network/es2plus/client.js';
import { createEs2Network } from '../../dist/network/es2plus/es2-network.js';
import { createLog } from '../../dist/platform/telemetry/log.js';
import { serve } from '../../dist/serve.js';

const { ES2_ICCIDS, ES2_RELEASES, DIE_AT } = process.env;
const { config } = readConfig();
const log = createLog('warn');

async function main() {
  const { url, tls } = await readEs2Settings(config);
  const client = createEs2Client({ url, tls, protocolVersion: '2.2.0', connectTimeoutMs: 5_000 });
  const driver = createEs2Network({
    client,
    requesterId: config.es2RequesterId,
    iccids: ES2_ICCIDS,
    recognisesCalls: config.es2Repeats === 'call-id',
    releasesOnConfirm: ES2_RELEASES !== 'separately',
    padsIccids: false,
    smdpAddress: config.es2SmdpAddress,
    commands: {},
    onTrouble: (details) => log.warn(details, 'trouble'),
  });

  /** Dies after the reply arrives, before any of it is stored. */
  const network = { ...driver };
  for (const step of ['order', 'confirm', 'release']) {
    network[step] = async (call) => {
      const reply = await driver[step]({ ...call, profileType: call.profileType ?? call.productId });
      if (DIE_AT === step) process.kill(process.pid, 'SIGKILL');
      return reply;
    };
  }

  const running = await serve(config, log, network);
  process.stdout.write(`is ready at ${running.url}\n`);
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
