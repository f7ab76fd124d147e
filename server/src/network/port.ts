import type { ProfileError } from '@simplane/contract';

/**
 * The service's interface to a mobile network, in our terms. Two drivers: the sandbox's mock, and GSMA ES2+ to a real
 * SM-DP+. A driver keeps no state: everything it needs is in the call, so any process may make it.
 */
export type Network = {
  /** Who chooses ICCIDs: `ours` are allotted before the order, `theirs` are in the network's answer. */
  iccids: 'ours' | 'theirs';
  /**
   * The network may not deduplicate by call id. Each call is then recorded before it is made, so that a repetition can be
   * marked as one (`isRepeated`).
   */
  forgetsCalls?: true;
  /** Reserves a profile of the product's type, for one device (by EID) or for any. */
  order(call: Call & Wanted & { iccid: string | null }): Promise<Reply<Ordered>>;
  /**
   * Binds the profile to a matching id. `isReleased`: a device may download it now. If there is a confirmation code, the
   * device asks its user for it.
   */
  confirm(
    call: Call & Wanted & { iccid: string; matchingId: string; confirmationCode: string | null },
  ): Promise<Reply<Confirmed>>;
  /** Allows the download, if `confirm` did not. */
  release(call: Call & { iccid: string; matchingId: string }): Promise<Reply<Done>>;
  /**
   * Cancels the profile for good. The matching id proves that it is ours. Only if the network reported the reservation but
   * not yet the confirmation (`isUnconfirmed`) may it be canceled without that proof.
   */
  cancel(
    call: Call & { iccid: string; matchingId: string | null; eid: string | null; isUnconfirmed: boolean },
  ): Promise<Reply<Done>>;
  suspend(call: Call & { iccid: string }): Promise<Reply<Done>>;
  resume(call: Call & { iccid: string }): Promise<Reply<Done>>;
  /** Sells another bundle. Missing where the network has no part in that, because Simplane counts usage. */
  topUp?(call: Call & { iccid: string; productId: string }): Promise<Reply<Done>>;
};

/**
 * `id` is the same for every repetition of a step of an execution, so that a network can deduplicate by it. `attempt`
 * counts from 1. `signal` aborts a call that takes too long. `isRepeated`: an earlier call with this id may have been
 * executed and its answer lost.
 */
export type Call = { id: string; attempt: number; signal: AbortSignal; isRepeated?: boolean };

/** `profileType` is the network's name for the product's profiles; null if the catalog has none. */
type Wanted = { productId: string; profileType: string | null; eid: string | null };

/** `isInferred`: the network only reported the ICCID as taken. After a lost answer, most likely our own call took it. */
type Ordered = { iccid: string; isInferred?: true };
type Confirmed = {
  smdpAddress: string;
  matchingId: string;
  confirmationCodeRequired: boolean;
  isReleased: boolean;
};
export type Done = Record<never, never>;

/**
 * A refusal is final; a failure may be temporary. Drivers return both and throw only for bugs. `hadNoEffect`: the network
 * surely did nothing; without it the answer may have been lost. `belongsToOther`: the profile is not ours, so it must not
 * be canceled. `reservedIccid`: the network has reserved this profile for us, but it cannot be used and must be canceled.
 * `leavesIccid`: the ICCID that we chose is not used, `free` for the next order, or `suspect` if the network objected to the number
 * itself. `isDown`: not the network answered but a gateway before it, or nothing did, so other calls are likely to fail as well.
 * `isUnreached`: there was no connection, or the network refused our certificate; trying again costs it nothing. `isLocal`: decided
 * without asking the network, so the reply says nothing about it.
 */
export type Reply<Result> =
  | { kind: 'done'; result: Result; isLocal?: true }
  | {
      kind: 'refused';
      reason: Refusal;
      belongsToOther?: true;
      reservedIccid?: string;
      leavesIccid?: 'free' | 'suspect';
      isDown?: true;
      isLocal?: true;
    }
  | { kind: 'failed'; reason: Refusal; hadNoEffect?: true; isDown?: true; isUnreached?: true };

export type Refusal = {
  code:
    | 'declined'
    | 'out_of_stock'
    | 'network_unavailable'
    | 'outcome_unknown'
    | 'product_missing'
    | 'state_conflict';
  /** Cause and remedy, for the person who ordered: without hosts and settings. */
  message: string;
  /** The same for the operator, with the host and the setting; omitted if it would be the same. */
  detail?: string;
  /** The host that was called. */
  host?: string;
  /** The network's own error, verbatim. */
  upstream?: Record<string, string>;
};

/** The operator's core, which is told what each eSIM may use. The body of an id never changes. */
export type Core = {
  setService(call: { id: string; body: string; signal: AbortSignal }): Promise<Reply<Done>>;
};

/** Reported by a network unasked. Observations may be missing, repeated, late and out of order. */
export type Observation = { iccid: string; at: Date } & (
  | { kind: 'profile'; state: Exclude<ObservedState, 'error'>; eid?: string }
  | { kind: 'profile'; state: 'error'; failure: ProfileFailure; eid?: string }
  | { kind: 'attach'; country: string }
);

/** What a device could not do with the profile, and why. */
export type ProfileFailure = { step: 'download' | 'install'; error: ProfileError };

export const observedStates = ['downloaded', 'installed', 'enabled', 'disabled', 'deleted', 'error'] as const;

export type ObservedState = (typeof observedStates)[number];

/** A source of observations. `take` resolves once the observation is stored, to false if the eSIM is not ours. */
export type ObservationSource = {
  start(
    take: (observation: Observation) => Promise<boolean>,
  ): Promise<{ stop(timeoutMs: number): Promise<void> }>;
};
