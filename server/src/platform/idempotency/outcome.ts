import type { Claim } from './claim.ts';

/** A response as it is stored and sent. A replay sends the same bytes, even if the rendering code has changed. */
export type Answer = {
  status: number;
  location: string | null;
  body: string;
  /** The stored copy is sealed. */
  isSecret?: boolean;
};

export type StoredAnswer = Answer & { fingerprint: Buffer };

/** The outcome of a write that may be a repetition. */
export type Outcome =
  | { kind: 'answered'; answer: Answer; replayed: boolean }
  | { kind: 'in_progress' }
  | { kind: 'reused' };

/** Replays a stored answer if the claim's fingerprint matches; otherwise the key was reused. */
export function readStored(
  { fingerprint, status, location, body }: StoredAnswer,
  claim: Claim | null,
): Outcome {
  if (!claim || fingerprint.toString('hex') !== claim.fingerprint) return { kind: 'reused' };
  return { kind: 'answered', answer: { status, location, body }, replayed: true };
}
