import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { generateApiKey } from '../../src/accounts/api-key-text.ts';
import type { Cell } from '../../src/platform/cell.ts';
import { type Cells, createCells } from '../../src/platform/cells/ask-cells.ts';
import type { Peer } from '../../src/platform/cells/peer.ts';
import { startService, type TestService } from './service.ts';

type Overrides = Parameters<typeof startService>[0];
type Timing = { timeoutMs?: number; pauseMs?: number };

export type CellService = TestService & {
  cell: Cell;
  operatorKey: string;
  /** From now on these are the other cells. */
  knows(peers: readonly Peer[], timing?: Timing): void;
};

/** A service that is a cell. Its addresses are known only once all run, so it learns of the others later. */
export async function startCellService(cell: Cell, overrides: Overrides = {}): Promise<CellService> {
  let current: Cells | null = null;
  const cells: Cells = {
    get others() {
      return current?.others ?? [];
    },
    ask: (question) => current?.ask(question) ?? Promise.resolve([]),
    close: async () => current?.close(),
  };
  const started = await startService({ ...overrides, cell, cells });
  const { log, metrics } = started.service;
  return {
    ...started,
    cell,
    operatorKey: await started.createKey({ scopes: ['operator', 'operator_write'] }),
    knows(peers, timing = {}) {
      current?.close().catch(() => {});
      // Long enough for a machine that is busy; the pause is tested by itself.
      current = createCells({
        peers,
        userAgent: 'Simplane/test',
        log,
        metrics,
        timeoutMs: 30_000,
        pauseMs: 0,
        ...timing,
      });
    },
    async stop() {
      await current?.close();
      await started.stop();
    },
  };
}

export function peerOf({ cell, url, operatorKey }: CellService): Peer {
  return { cell, origin: url, key: operatorKey };
}

export type FakeCell = Peer & {
  /** Paths that were asked. */
  asked: string[];
  stop(): Promise<void>;
};

/** Starts cells that answer as they like. They stop after the test. */
export function useFakeCells() {
  const fakes: FakeCell[] = [];
  afterEach(async () => {
    await Promise.all(fakes.splice(0).map((fake) => fake.stop()));
  });
  return async (...given: Parameters<typeof startFakeCell>): Promise<FakeCell> => {
    const started = await startFakeCell(...given);
    fakes.push(started);
    return started;
  };
}

/** A cell that answers as it likes. */
export async function startFakeCell(
  cell: Cell,
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<FakeCell> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.on('error', () => {});
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ cell, asked, origin: `http://127.0.0.1:${port}`, key: generateApiKey('sandbox', cell) },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
