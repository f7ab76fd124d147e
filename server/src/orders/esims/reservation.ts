import type { Network } from '../../network/port.ts';
import {
  type ClaimedExecution,
  type ExecutionError,
  sentFlag,
  wasClaimedBefore,
} from '../executions/runner.ts';

/** The fields of an order that the network needs. The code is deleted when the order ends, but not that there was one. */
export type OrderInput = { eid?: string; sealed_confirmation_code?: string; has_confirmation_code?: true };

/**
 * The completed steps of an order. If the network forgets calls, each is stored before the next begins; otherwise a step is
 * repeated with the same call id. So an order resumes after a crash and never orders twice.
 */
export type Progress = {
  /** Sealed. */
  matching_id?: string;
  profile_type?: string | null;
  is_ordered?: true;
  /** The network confirmed the reservation. Not set if we only inferred it from a taken ICCID. */
  is_reserved?: true;
  is_confirmed?: true;
  /** An operator named the profile. If the network has it in another state than reserved, it is not ours. */
  is_adopted?: true;
  /** Why the order fails. Once set, only the rollback at the network remains. */
  verdict?: ExecutionError;
  /** The profile is canceled at the network, or was never ours. */
  is_closed?: true;
};

/** Whether the network may have a profile reserved for the order, according to what was stored. */
export function mayBeReserved(progress: Record<string, unknown>): boolean {
  const { is_ordered, is_closed } = progress as Progress;
  return !is_closed && (is_ordered === true || progress[sentFlag('order')] === true);
}

/**
 * The same for a claimed order. If the network does not forget calls, an earlier attempt may have reserved a profile without
 * storing that.
 */
export function mayHaveReserved({ forgetsCalls }: Network, execution: ClaimedExecution): boolean {
  const { is_closed } = execution.progress as Progress;
  return mayBeReserved(execution.progress) || (!is_closed && !forgetsCalls && wasClaimedBefore(execution));
}

/** Whether the profile is certainly ours, but may not yet be bound to the matching id that proves it. */
export function isUnconfirmed({ is_reserved, is_confirmed }: Progress): boolean {
  return is_reserved === true && !is_confirmed;
}
