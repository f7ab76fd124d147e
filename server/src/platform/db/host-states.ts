import { parseConnectionUrl } from './connection-url.ts';
import { endClient } from './end-client.ts';
import { openClient } from './open-client.ts';
import { applicationName } from './schema-version.ts';

export type HostState = { label: string } & (
  | { version: string; isStandby: boolean; isReadOnly: boolean }
  | { unreachable: string }
);

/** Returns the state of each server in the connection string, in its order. */
export async function readHostStates(connectionString: string): Promise<HostState[]> {
  const address = parseConnectionUrl(connectionString);
  const options = { applicationName: applicationName('check'), queryTimeoutMs: address.connectTimeoutMs };
  return Promise.all(
    address.hosts.map(async (host) => {
      try {
        const { client, session } = await openClient(host, address, options);
        const { rows } = await client.query<{ version: string }>(
          `select current_setting('server_version') as version`,
        );
        await endClient(client);
        const { isStandby, isReadOnly } = session;
        return { label: host.label, version: rows[0]?.version ?? '', isStandby, isReadOnly };
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException;
        return { label: host.label, unreachable: message || (code ?? 'unknown') };
      }
    }),
  );
}
