import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { inject } from 'vitest';

type Target = { url: string; key: string };
type HttpOptions = { revision?: string; headers?: Record<string, string>; fetch?: typeof fetch };

export const currentRevision = '2026-07-28';

const stdioServer = join(inject('programs'), 'stdio-server.mjs');

/** Connects the official client over Streamable HTTP with one protocol revision. */
export async function connectHttp({ url, key }: Target, options: HttpOptions = {}): Promise<Client> {
  const { revision = currentRevision, headers = {}, fetch } = options;
  const client = createClient(revision);
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { Authorization: `Bearer ${key}`, ...headers } },
      ...(fetch && { fetch }),
    }),
  );
  return client;
}

/** Connects the official client to a stdio server process. */
export async function connectStdio({ url, key }: Target, revision = currentRevision): Promise<Client> {
  const client = createClient(revision);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [stdioServer],
      env: { PATH: process.env['PATH'] ?? '', SIMPLANE_API_KEY: key, SIMPLANE_BASE_URL: url },
    }),
  );
  return client;
}

function createClient(revision: string): Client {
  const info = { name: 'test', version: '1.0.0' };
  return revision === currentRevision
    ? new Client(info, { versionNegotiation: { mode: { pin: revision } } })
    : new Client(info, { supportedProtocolVersions: [revision] });
}
