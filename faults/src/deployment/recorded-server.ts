// A server whose network driver calls the checker's mock network, which records every call even if this process dies.
import { readConfig } from '@simplane/server/config';
import { createLog } from '@simplane/server/log';
import { serve } from '@simplane/server/serve';

const {
  FAULTS_NETWORK_URL = '',
  FAULTS_PROCESS = '',
  FAULTS_NETWORK_FORGETS = '',
  SIMPLANE_CORE_URL = '',
} = process.env;

type Network = NonNullable<Parameters<typeof serve>[2]>;
type Core = NonNullable<NonNullable<Parameters<typeof serve>[3]>['core']>;
type Call = { signal: AbortSignal };

const noAnswer = {
  kind: 'failed' as const,
  reason: { code: 'network_unavailable' as const, message: 'The network did not answer.' },
};

function step<Reply>(name: string) {
  return async ({ signal, ...call }: Call): Promise<Reply> => {
    try {
      const body = JSON.stringify({ step: name, worker: FAULTS_PROCESS, ...call });
      const answer = await fetch(FAULTS_NETWORK_URL, { method: 'POST', body, signal });
      return (await answer.json()) as Reply;
    } catch {
      return noAnswer as Reply;
    }
  };
}

/** A repeated order would reserve a second profile, so an order is sent once, and without an answer its outcome is unknown. */
const orderOnce: Network['order'] = async (call) => {
  const unknown = {
    kind: 'refused' as const,
    reason: { code: 'outcome_unknown' as const, message: `Look up call ${call.id}.` },
  };
  if (call.isRepeated) return { ...unknown, isLocal: true };
  const reply = await step<Awaited<ReturnType<Network['order']>>>('order')(call);
  return reply.kind === 'failed' && !reply.hadNoEffect ? unknown : reply;
};

const kind = FAULTS_NETWORK_FORGETS
  ? ({ iccids: 'theirs', forgetsCalls: true, order: orderOnce } as const)
  : ({ iccids: 'ours', order: step<Awaited<ReturnType<Network['order']>>>('order') } as const);

const network: Network = {
  ...kind,
  confirm: step('confirm'),
  release: step('release'),
  cancel: step('cancel'),
  suspend: step('suspend'),
  resume: step('resume'),
};

/** A worker that could not tell whether the core has a state sends it again. */
const core: Core = {
  async setService({ body, signal }) {
    try {
      const { ok } = await fetch(SIMPLANE_CORE_URL, { method: 'POST', body, signal });
      return ok ? { kind: 'done', result: {} } : noAnswer;
    } catch {
      return noAnswer;
    }
  },
};

serve(readConfig().config, createLog('warn'), network, { core }).then(
  (running) => {
    process.once('SIGTERM', () => {
      running.stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
    process.stdout.write(`is ready at ${running.url}\n`);
  },
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);
