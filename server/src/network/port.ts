/**
 * What the service asks of a mobile network, in our words. Two drivers: the mock of the sandbox, and GSMA ES2+ to a real
 * SM-DP+. A driver keeps no state of its own: everything it needs is in the call, so any process may make it.
 */
export type Network = {
  /** Whose numbers they are: `ours` are allotted before the order, `theirs` come back with it. */
  iccids: 'ours' | 'theirs';
  /**
   * Set where the network need not know a call id again. Each call is then noted before it is made, so that its
   * repetition says that it is one.
   */
  forgetsCalls?: true;
  /** Reserves a profile of the product's type, for one device (its EID) or for any. */
  order(call: Call & Wanted & { iccid: string | null }): Promise<Reply<Ordered>>;
  /**
   * Binds it to an activation code; `isReleased` says whether a device may download it yet. With a confirmation code the
   * device asks its user for it.
   */
  confirm(
    call: Call & Wanted & { iccid: string; matchingId: string; confirmationCode: string | null },
  ): Promise<Reply<Confirmed>>;
  /** Lets devices download it, where `confirm` did not. */
  release(call: Call & { iccid: string; matchingId: string }): Promise<Reply<Done>>;
  /**
   * Gives the profile up, for good. The matching id proves whose it is; only where the network has said that it reserved
   * the profile for us, and not yet that it is confirmed (`isUnconfirmed`), may it be given up without that proof.
   */
  cancel(
    call: Call & { iccid: string; matchingId: string | null; eid: string | null; isUnconfirmed: boolean },
  ): Promise<Reply<Done>>;
  suspend(call: Call & { iccid: string }): Promise<Reply<Done>>;
  resume(call: Call & { iccid: string }): Promise<Reply<Done>>;
};

/**
 * `id` is the same for every repetition of one step of one execution, so that a network which keeps them never does a
 * step twice; it is stored before it is sent. `attempt` counts from 1. `signal` ends a call that takes too long.
 * `isRepeated`: an earlier call with this id may have been carried out, and its answer lost.
 */
export type Call = { id: string; attempt: number; signal: AbortSignal; isRepeated?: boolean };

/** `profileType` is what the network calls the product's profiles; null where the catalog names none. */
type Wanted = { productId: string; profileType: string | null; eid: string | null };

/** `isInferred`: the network said only that the number is taken, which after a lost answer is most likely by us. */
type Ordered = { iccid: string; isInferred?: true };
type Confirmed = {
  smdpAddress: string;
  matchingId: string;
  confirmationCodeRequired: boolean;
  isReleased: boolean;
};
export type Done = Record<never, never>;

/**
 * A refusal is final; a failure may pass. Drivers return them and throw for bugs only. `hadNoEffect` says that the network
 * has surely done nothing: without it a failure may be an answer that was lost. `belongsToOther` says that the profile is
 * somebody else's, so that nothing of it is ours to give back.
 */
export type Reply<Result> =
  | { kind: 'done'; result: Result }
  | { kind: 'refused'; reason: Refusal; belongsToOther?: true }
  | { kind: 'failed'; reason: Refusal; hadNoEffect?: true };

export type Refusal = {
  code:
    | 'declined'
    | 'out_of_stock'
    | 'network_unavailable'
    | 'outcome_unknown'
    | 'product_missing'
    | 'state_conflict';
  /** The cause and the remedy, for the person who ordered. */
  message: string;
  /** What the network itself said, word for word. */
  upstream?: Record<string, string>;
};

/** What a network tells of its own accord. Observations may be skipped, repeated, late and out of order. */
export type Observation = { iccid: string; at: Date } & (
  | { kind: 'profile'; state: ObservedState; eid?: string }
  | { kind: 'attach'; country: string }
);

export const observedStates = ['downloaded', 'installed', 'enabled', 'disabled', 'deleted', 'error'] as const;

export type ObservedState = (typeof observedStates)[number];

/** Where observations come from. `take` resolves once what was told is stored: false when the eSIM is not ours. */
export type ObservationSource = {
  start(
    take: (observation: Observation) => Promise<boolean>,
  ): Promise<{ stop(patienceMs: number): Promise<void> }>;
};
