import type { FeedReader } from '../history/history.ts';
import type { Random } from '../random.ts';
import type { RunContext } from '../run-context.ts';

/** What a reader needs: where it records what it saw, and when it ends. */
export type Reading = { ctx: RunContext; reader: FeedReader; random: Random; signal: AbortSignal };
