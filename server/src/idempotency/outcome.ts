import type { Claim } from './claim.ts';

/** A response as it is stored and sent: the bytes of a replay are these, whatever the code renders by then. */
export type Answer = {
  status: number;
  location: string | null;
  body: string;
  /** Its stored copy is sealed. */
  isSecret?: boolean;
};

export type StoredAnswer = Answer & { fingerprint: Buffer };

/** What became of a write that may have been sent before. */
export type Outcome =
  | { kind: 'answered'; answer: Answer; replayed: boolean }
  | { kind: 'in_progress' }
  | { kind: 'reused' };

/** What a stored answer means to a request that claims the same key. */
export function readStored(
  { fingerprint, status, location, body }: StoredAnswer,
  claim: Claim | null,
): Outcome {
  if (!claim || fingerprint.toString('hex') !== claim.fingerprint) return { kind: 'reused' };
  return { kind: 'answered', answer: { status, location, body }, replayed: true };
}
