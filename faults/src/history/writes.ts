import type { History, Sent } from './history.ts';
import { isAnswer } from './is-answer.ts';

/** All attempts of one write with an idempotency key. If it took effect, then between `fromMs` and `toMs`. */
export type Write = {
  account: number;
  key: string;
  method: string;
  path: string;
  body: unknown;
  attempts: Sent[];
  answers: Sent[];
  fromMs: number;
  toMs: number;
  status: number | null;
  text: string;
};

/** Groups requests into writes by account and key, in the order first sent. */
export function writesOf(history: History): Write[] {
  const byKey = new Map<string, Sent[]>();
  for (const sent of history.sent) {
    if (sent.key === null) continue;
    const name = `${sent.account} ${sent.key}`;
    byKey.set(name, [...(byKey.get(name) ?? []), sent]);
  }
  return [...byKey.values()].map(toWrite).sort((a, b) => a.fromMs - b.fromMs);
}

function toWrite(attempts: Sent[]): Write {
  const [{ account, key, method, path, body }] = attempts as [Sent];
  const answers = attempts.filter(isAnswer);
  const [first] = answers;
  return {
    ...{ account, key: key ?? '', method, path, body, attempts, answers },
    fromMs: Math.min(...attempts.map(({ sentMs }) => sentMs)),
    toMs: first ? Math.min(...answers.map(({ answeredMs }) => answeredMs)) : Number.POSITIVE_INFINITY,
    status: first?.status ?? null,
    text: first?.text ?? '',
  };
}

export function bodyOf<T>({ text }: { text: string }): T {
  return JSON.parse(text) as T;
}
