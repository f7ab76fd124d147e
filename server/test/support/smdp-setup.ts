import { createEs2Client } from '../../src/network/es2plus/client.ts';
import { createEs2Network } from '../../src/network/es2plus/es2-network.ts';
import type { Network } from '../../src/network/port.ts';
import { createAuthority } from './certificates.ts';
import { type FakeSmdp, startFakeSmdp } from './fake-smdp.ts';

type FakeOptions = Partial<Parameters<typeof startFakeSmdp>[0]>;
type NetworkOptions = Partial<Parameters<typeof createEs2Network>[0]>;

export type SmdpSetup = {
  smdp: FakeSmdp;
  network: Network;
  /** The same network with other settings. */
  networkWith(changes: NetworkOptions): Network;
  /** The driver itself, which does not use the product id as the profile type. */
  driver: Network;
  troubles: object[];
  tls: ReturnType<typeof createTls>;
  stop(): Promise<void>;
};

/** A fake SM-DP+ and the real driver that talks to it over mutual TLS. */
export async function startSmdpSetup(
  fake: FakeOptions = {},
  options: NetworkOptions = {},
): Promise<SmdpSetup> {
  const tls = createTls();
  const smdp = await startFakeSmdp({ tls: tls.server, ...fake });
  const client = createEs2Client({
    url: smdp.url,
    tls: tls.client,
    protocolVersion: '2.2.0',
    connectTimeoutMs: 5_000,
  });
  const troubles: object[] = [];
  const base: Parameters<typeof createEs2Network>[0] = {
    client,
    requesterId: 'simplane-test',
    iccids: 'ours',
    recognisesCalls: false,
    releasesOnConfirm: true,
    padsIccids: false,
    requiresCheckDigit: false,
    undoneStatuses: new Set([503]),
    smdpAddress: 'fallback.example.com',
    commands: { suspend: noCommand, resume: noCommand },
    onTrouble: (details) => void troubles.push(details),
    ...options,
  };
  const driver = createEs2Network(base);
  return {
    smdp,
    network: withProfileTypes(driver),
    networkWith: (changes) => withProfileTypes(createEs2Network({ ...base, ...changes })),
    driver,
    troubles,
    tls,
    async stop() {
      await client.close();
      await smdp.stop();
    },
  };
}

/** Server and client certificates from one authority. */
export function createTls() {
  const authority = createAuthority('Test authority');
  const server = authority.issue({ name: 'smdp', hosts: ['127.0.0.1'] });
  const client = authority.issue({ name: 'simplane' });
  return {
    authority,
    server: { ...server, clientCa: authority.pem },
    client: { ...client, ca: authority.pem as string | null },
  };
}

/** Uses the product id as the profile type, so the fake SM-DP+ can tell which test an order belongs to. */
function withProfileTypes(network: Network): Network {
  return {
    ...network,
    order: (call) => network.order({ ...call, profileType: call.profileType ?? call.productId }),
  };
}

const noCommand: Network['suspend'] = async () => ({ kind: 'done', result: {} });
