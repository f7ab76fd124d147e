/** Runs the official inspector: lists and calls tools, prompts and resources over both transports, and lints the schemas. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installTemporarily } from './install-temporarily.ts';
import { startSandbox } from './start-sandbox.ts';

const simplane = fileURLToPath(new URL('../../cli/bin/simplane.js', import.meta.url));

const inspector = await installTemporarily('@modelcontextprotocol/inspector', '2.12.0');
const sandbox = await startSandbox();
try {
  const { url, apiKey } = sandbox;
  const viaHttp = [`${url}/mcp`, '--header', `Authorization: Bearer ${apiKey}`];
  const viaStdio = [
    ...[process.execPath, simplane, 'mcp'],
    ...['-e', `SIMPLANE_API_KEY=${apiKey}`, '-e', `SIMPLANE_BASE_URL=${url}`],
  ];
  await inspect('stdio, `simplane mcp`', viaStdio);
  await inspect('HTTP, revision 2025-11-25', [...viaHttp, '--protocol-era', 'legacy']);
  await inspect('HTTP, revision 2026-07-28', [...viaHttp, '--protocol-era', 'modern']);
} finally {
  await sandbox.stop();
  await inspector.remove();
}

// biome-ignore lint/suspicious/noExplicitAny: the inspector prints the server's response.
type Json = any;

async function inspect(transport: string, target: string[]): Promise<void> {
  console.log(`\nover ${transport}`);
  const request = (method: string, ...args: string[]): Promise<Json> =>
    run([...target, '--method', method, '--format', 'json', ...args]);
  const call = async (name: string, args: object): Promise<Json> => {
    const toolArgs = ['--tool-name', name, '--tool-args-json', JSON.stringify(args)];
    const { structuredContent } = await request('tools/call', ...toolArgs);
    console.log(`  tools/call ${name}: ok`);
    return structuredContent;
  };

  const { tools } = await request('tools/list', '--strict');
  console.log(`  tools/list --strict: ${tools.length} tools, no findings`);
  const { data } = await call('list_products', { limit: 1 });
  const endpoint = await call('create_webhook_endpoint', {
    url: 'http://127.0.0.1:9/',
    enabled_event_types: ['none'],
  });
  await call('get_webhook_endpoint', { webhook_endpoint_id: endpoint.id });
  await call('list_event_types', {});
  const { id } = await call('provision_esim', { product_id: data[0].id });
  const { status, iccid } = await call('get_execution', { execution_id: id, wait_seconds: 30 });
  if (status !== 'succeeded') throw new Error(`${id} is ${status}`);
  await call('get_esim', { iccid });
  await call('get_install_profile', { iccid });
  const event = await call('send_test_event', { type: 'esim.provisioned', data: { iccid } });
  await call('list_deliveries', { event_id: event.id });
  await call('list_events', { limit: 2 });

  await request('prompts/list');
  await request('prompts/get', '--prompt-name', 'provision_esim_with_webhooks');
  await request('resources/list');
  await request('resources/templates/list');
  for (const path of ['products', 'openapi.json', `esims/${iccid}/install`, `esims/${iccid}/install.png`])
    await request('resources/read', '--uri', `simplane://${path}`);
  console.log('  prompts and resources: ok');
}

/** Runs the inspector once; rejects if it fails or prints to standard error. */
function run(args: string[]): Promise<Json> {
  const program = join(inspector.path, 'clients/cli/build/index.js');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { maxBuffer: 16_000_000 }, (error, stdout, stderr) => {
      if (error || stderr !== '')
        reject(new Error(`${args.join(' ')}\n${stderr || error?.message}\n${stdout}`));
      else resolve(JSON.parse(stdout).result);
    });
  });
}
