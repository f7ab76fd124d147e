import type { FastifyRequest } from 'fastify';
import { networkOf } from './unknown-key-limit.ts';

/** All operators count as one account, also when they read another. */
const operators = 'operators';

/** Whose share of the process a request takes: its key's account, or without a key, its address. */
export function ownerOf({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  if (!caller) return networkOf(ip);
  return caller.account?.uuid ?? operators;
}
