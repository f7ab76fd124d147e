import { serviceChangeStates } from '@simplane/contract';
import { coreModeOf } from '../config/core-mode-of.ts';
import { listServiceChanges } from '../orders/service/list-changes.ts';
import { requestResync } from '../orders/service/resync.ts';
import { CommandError } from './command-error.ts';
import { type Format, isoTime, print, printJson } from './print.ts';
import type { Tools } from './with-database.ts';

/** Workers look for it every second, so they need no signal. */
export async function resyncCoreCommand(tools: Tools, options: Format): Promise<void> {
  const author = { ...tools, core: coreModeOf(tools.config) };
  const resync = await tools.db.transaction((tx) => requestResync(tx, author));
  if (options.json) printJson([resync]);
  else process.stdout.write('the workers send the state of every eSIM to the core again\n');
}

export async function listServiceChangesCommand(
  tools: Tools,
  options: Format & { state: string },
): Promise<void> {
  const state = serviceChangeStates.find((known) => known === options.state);
  if (!state) throw new CommandError(`--state must be one of: ${serviceChangeStates.join(', ')}`);
  const { data, has_more: hasMore } = await listServiceChanges(tools, { query: { limit: 100, state } });
  if (options.json) return printJson(data);
  const lines = data.map(({ account_id, iccid, version, service, since, failures, error }) => ({
    account: account_id,
    iccid,
    version,
    service: service.state,
    since: isoTime(since),
    failures,
    error: error?.message ?? null,
  }));
  print(lines, options);
  if (hasMore) process.stderr.write('there are more: GET /v1/operator/service_changes lists all\n');
}
