import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stopServer } from '../../../server/test/support/stop-server.ts';

export type Step = (response: ServerResponse, request: IncomingMessage) => unknown;

export type ScriptedServer = {
  url: string;
  /** Answers of the next requests. The last one answers all further requests. */
  script: Step[];
  /** Method and path, body and time of each request. */
  requests: { line: string; body: string; atMs: number }[];
  /** Responses that have begun and not ended, and whose client is still there. */
  open: number;
  stop(): Promise<void>;
};

/** A real HTTP server that answers each request with the next step of its script. */
export async function startScriptedServer(script: Step[] = []): Promise<ScriptedServer> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const line = `${request.method} ${decodeURIComponent(request.url ?? '')}`;
    scripted.requests.push({ line, body, atMs: performance.now() });
    scripted.open += 1;
    response.on('close', () => {
      scripted.open -= 1;
    });
    const [step] = scripted.script.length > 1 ? [scripted.script.shift()] : scripted.script;
    await step?.(response, request);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const scripted: ScriptedServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    script,
    requests: [],
    open: 0,
    stop: () => stopServer(server),
  };
  return scripted;
}

/** An error of the API. */
export function refusal(status: number, error: object, headers: Record<string, string> = {}): Step {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: 'Refused.', ...error } }));
  };
}

export function json(body: object): Step {
  return (response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

/** Begins a stream with this text. It then ends, breaks off, or stays open and silent. */
export function streamOf(text: string, then: 'end' | 'break' | 'stay' = 'stay'): Step {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => {
      if (then === 'end') response.end();
      if (then === 'break') response.destroy();
    });
  };
}

/** The n-th event of a test, with the cursor `c<n>`, as the service streams it. */
export function blockOf(n: number): string {
  return `id: c${n}\nevent: esim.provisioned\ndata: ${JSON.stringify(eventOf(n))}\n\n`;
}

export function eventOf(n: number) {
  return { id: `evt_${n}`, object: 'event', type: 'esim.provisioned', created: 1_700_000_000, data: {} };
}
