import type { InputOf, Operation, OperationId, Operations, ResultOf } from '@simplane/contract';
import { identify } from '../accounts/identify.ts';
import type { Context, WriteContext } from '../context.ts';
import { provisionEsim } from '../esims/provision.ts';
import { getExecution } from '../executions/get.ts';
import { listExecutions } from '../executions/list.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { getProduct } from '../products/get.ts';
import { listProducts } from '../products/list.ts';

type HandlerOf<O extends Operation> = O['method'] extends 'GET'
  ? (ctx: Context, input: InputOf<O>) => Promise<ResultOf<O>>
  : (ctx: WriteContext, input: InputOf<O>) => Promise<Outcome>;

/** Every operation of the contract has its function here, or this does not compile. */
export const routes: { [Id in OperationId]: HandlerOf<Operations[Id]> } = {
  getMe: identify,
  listProducts,
  getProduct,
  createEsim: provisionEsim,
  listExecutions,
  getExecution,
};
