import { type ExecutionError, sentFlag } from '../executions/worker.ts';

/** The fields of an order that the network needs. The code is deleted when the order ends. */
export type OrderInput = { eid?: string; sealed_confirmation_code?: string };

/** The completed steps of an order. Each is stored before the next begins, so an order resumes after a crash and never orders twice. */
export type Progress = {
  /** Sealed. */
  matching_id?: string;
  profile_type?: string | null;
  is_ordered?: true;
  /** The network confirmed the reservation. Not set if we only inferred it from a taken ICCID. */
  is_reserved?: true;
  is_confirmed?: true;
  /** Why the order fails. Once set, only the rollback at the network remains. */
  verdict?: ExecutionError;
  /** The profile is canceled at the network, or was never ours. */
  is_closed?: true;
};

/** Whether the network may have a profile reserved for the order. */
export function mayBeReserved(progress: Record<string, unknown>): boolean {
  const { is_ordered, is_closed } = progress as Progress;
  return !is_closed && (is_ordered === true || progress[sentFlag('order')] === true);
}

/** Whether the profile is certainly ours, but may not yet be bound to the matching id that proves it. */
export function isUnconfirmed({ is_reserved, is_confirmed }: Progress): boolean {
  return is_reserved === true && !is_confirmed;
}
