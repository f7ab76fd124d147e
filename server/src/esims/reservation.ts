import { type ExecutionError, sentMark } from '../executions/worker.ts';

/** What an order says that the network must know. The code is forgotten when the order has ended. */
export type OrderInput = { eid?: string; sealed_confirmation_code?: string };

/** What the attempts of an order have reached. Each step is stored before the next begins, so a crash resumes and never orders twice. */
export type Progress = {
  /** Sealed. */
  matching_id?: string;
  profile_type?: string | null;
  is_ordered?: true;
  /** The network has said so itself; that the number is taken only lets us think so. */
  is_reserved?: true;
  is_confirmed?: true;
  /** Why it fails, once that is decided: what is left is to give back what it had. */
  verdict?: ExecutionError;
  /** What it had is given back, or was never ours. */
  is_closed?: true;
};

/** Whether the network may hold a profile for the order. */
export function mayBeHeld(progress: Record<string, unknown>): boolean {
  const { is_ordered, is_closed } = progress as Progress;
  return !is_closed && (is_ordered === true || progress[sentMark('order')] === true);
}

/** Whether the profile is surely ours although nothing may be bound to it yet that could prove it. */
export function isUnconfirmed({ is_reserved, is_confirmed }: Progress): boolean {
  return is_reserved === true && !is_confirmed;
}
