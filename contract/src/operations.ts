import { createEsim } from './esim.ts';
import { getExecution, listExecutions } from './execution.ts';
import { getMe } from './identity.ts';
import { getProduct, listProducts } from './product.ts';

/** Every operation by its id. The server's route map has exactly these keys, or it does not compile. */
export const operations = {
  getMe,
  listProducts,
  getProduct,
  createEsim,
  listExecutions,
  getExecution,
} as const;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
