import { serveStdio as serve } from '@modelcontextprotocol/server/stdio';
import type { Scope } from '@simplane/contract';
import { createSimplane, type Simplane, type SimplaneOptions } from '@simplane/sdk';
import { createMcpServer } from './create-mcp-server.ts';

export type StdioServer = {
  /** Resolves when the client disconnects or `close` is called. */
  ended: Promise<void>;
  close(): Promise<void>;
};

// Clients usually time out after a minute; ours must be shorter so that the error reaches the agent.
const timeoutMs = 30_000;

/** Serves MCP on stdin and stdout. Nothing else may write to stdout. */
export function serveStdio(options: SimplaneOptions): StdioServer {
  const simplane = createSimplane({ timeoutMs, ...options });
  const stopping = new AbortController();
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('close', resolve);
    process.stdin.once('end', resolve);
    stopping.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const onError = (error: unknown) => console.error('simplane mcp:', error);
  const handle = serve(
    async () => {
      const scopes = await readScopes(simplane);
      return createMcpServer(simplane, { scopes, stopping: stopping.signal, onError });
    },
    { onerror: onError },
  );
  return {
    ended,
    async close() {
      stopping.abort();
      await handle.close();
    },
  };
}

// The client waits for this before it can list tools.
const scopesTimeoutMs = 3_000;

/** Unknown if the key is wrong or the server does not answer: then all tools are offered, and a call explains the problem. */
async function readScopes(simplane: Simplane): Promise<readonly Scope[] | undefined> {
  try {
    const { api_key } = await simplane.me({ timeoutMs: scopesTimeoutMs, maxRetries: 0 });
    return api_key.scopes;
  } catch {
    return undefined;
  }
}
