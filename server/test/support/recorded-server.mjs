// A server that uses the test's recording network and can die before or after a step.
import { readConfig } from '../../dist/config/read-config.js';
import { createLog } from '../../dist/platform/telemetry/log.js';
import { serve } from '../../dist/serve.js';

const { RECORDER_URL, DIE_AT, WORKER_NAME } = process.env;

function dieAt(moment) {
  if (DIE_AT === moment) process.kill(process.pid, 'SIGKILL');
}

function step(name) {
  return async ({ signal, ...call }) => {
    dieAt(`${name}:before`);
    try {
      const body = JSON.stringify({ step: name, worker: WORKER_NAME, ...call });
      const reply = await (await fetch(RECORDER_URL, { method: 'POST', body, signal })).json();
      dieAt(`${name}:after`);
      return reply;
    } catch {
      return { kind: 'failed', reason: { code: 'network_unavailable', message: 'no answer' } };
    }
  };
}

const network = { iccids: 'ours' };
for (const name of ['order', 'confirm', 'release', 'cancel', 'suspend', 'resume']) network[name] = step(name);

async function main() {
  const running = await serve(readConfig().config, createLog('info'), network);
  process.once('SIGTERM', () => {
    running.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
  process.stdout.write(`is ready at ${running.url}\n`);
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
