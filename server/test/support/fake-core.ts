import { type Receiver, startReceiver } from './receiver.ts';

type SetService = {
  id: string;
  command: 'set_service';
  iccid: string;
  version: number;
  state: string;
  reason: string | null;
  kbps: number | null;
  bundle_id: string | null;
  until: number | null;
};

/** What the core does with a command that it is told to misbehave on. */
type Behavior = 'apply' | 'hang' | 'lie' | 'unavailable' | { refuse: string };

export type FakeCore = Receiver & {
  /** What it believes of each eSIM: its highest version. */
  lines: Map<string, SetService>;
  /** All commands, in the order of their arrival. */
  commands(): SetService[];
  bodies(): string[];
  behave(how: (command: SetService) => Behavior): void;
  /** Forgets everything since, like a core that is restored from an old backup. */
  restore(lines: Map<string, SetService>): void;
};

/** An operator's core: keeps the highest version of each eSIM. `lie`: applies the state and answers 500. */
export async function startFakeCore(): Promise<FakeCore> {
  const receiver = await startReceiver();
  const lines = new Map<string, SetService>();
  let behavior: (command: SetService) => Behavior = () => 'apply';
  const parse = (body: string) => JSON.parse(body) as SetService;
  receiver.answer((response, { body }) => {
    const command = parse(body);
    const how = behavior(command);
    if (how === 'hang') return;
    if (how === 'unavailable') return void response.writeHead(503).end();
    if (typeof how === 'object') {
      response.writeHead(422).end(JSON.stringify({ message: how.refuse }));
      return;
    }
    const known = lines.get(command.iccid);
    if (!known || known.version < command.version) lines.set(command.iccid, command);
    response.writeHead(how === 'lie' ? 500 : 200).end('{}');
  });
  return {
    ...receiver,
    lines,
    commands: () => receiver.received.map(({ body }) => parse(body)),
    bodies: () => receiver.received.map(({ body }) => body),
    behave(how) {
      behavior = how;
    },
    restore(old) {
      lines.clear();
      for (const [iccid, command] of old) lines.set(iccid, command);
    },
  };
}
