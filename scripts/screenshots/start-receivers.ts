import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Receivers = {
  /** Answers every webhook. */
  shopUrl: string;
  /** Works until `breakCrm` is called. */
  crmUrl: string;
  /** Nobody listens there after `stopWarehouse`. */
  warehouseUrl: string;
  breakCrm(): void;
  stopWarehouse(): Promise<void>;
  stop(): Promise<void>;
};

/** The servers of the pictured business. Names under `.localhost` are this machine, without a name server. */
export async function startReceivers(): Promise<Receivers> {
  let isCrmBroken = false;
  const shop = await listen(3000, () => [200, '{"received":true}']);
  const crm = await listen(3001, () =>
    isCrmBroken ? [500, '{"error":"relation \\"esim_inbox\\" does not exist"}'] : [200, 'ok'],
  );
  const warehouse = await listen(3002, () => [204, '']);
  return {
    shopUrl: `http://shop.localhost:${shop.port}/hooks/esim`,
    crmUrl: `http://crm.localhost:${crm.port}/in/simplane`,
    warehouseUrl: `http://dwh.localhost:${warehouse.port}/usage`,
    breakCrm: () => {
      isCrmBroken = true;
    },
    stopWarehouse: warehouse.stop,
    stop: async () => {
      await Promise.all([shop.stop(), crm.stop(), warehouse.stop()]);
    },
  };
}

/** On the wanted port, so that pictures look alike, or on a free one. */
async function listen(port: number, answer: () => [status: number, body: string]) {
  const server = createServer((request, response) => {
    const [status, body] = answer();
    request.resume().on('end', () => response.writeHead(status).end(body));
  });
  try {
    await listening(server, port);
  } catch {
    await listening(server, 0);
  }
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listening(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}
