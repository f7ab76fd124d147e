import type { InputOf, Operation, OperationId, Operations, ResultOf } from '@simplane/contract';
import { identify } from '../accounts/identify.ts';
import { listBundles } from '../bundles/list.ts';
import { topUp } from '../bundles/top-up.ts';
import type { Context, WriteContext } from '../context.ts';
import { resumeEsim, suspendEsim, terminateEsim } from '../esims/change.ts';
import { getEsim } from '../esims/get.ts';
import { getInstallProfile } from '../esims/install.ts';
import { listEsims } from '../esims/list.ts';
import { provisionEsim } from '../esims/provision.ts';
import { getEvent } from '../events/get.ts';
import { listEvents } from '../events/list.ts';
import { listEventTypes } from '../events/list-types.ts';
import { sendTestEvent } from '../events/send-test.ts';
import { getExecution } from '../executions/get.ts';
import { listExecutions } from '../executions/list.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { getProduct } from '../products/get.ts';
import { listProducts } from '../products/list.ts';
import { simulateEsim } from '../sandbox/simulate.ts';

type HandlerOf<O extends Operation> = O['method'] extends 'GET'
  ? (ctx: Context, input: InputOf<O>) => Promise<ResultOf<O>>
  : (ctx: WriteContext, input: InputOf<O>) => Promise<Outcome>;

/** Every operation of the contract has its function here, or this does not compile. */
export const routes: { [Id in OperationId]: HandlerOf<Operations[Id]> } = {
  getMe: identify,
  listProducts,
  getProduct,
  createEsim: provisionEsim,
  listEsims,
  getEsim,
  getInstallProfile,
  suspendEsim,
  resumeEsim,
  terminateEsim,
  listBundles,
  addBundle: topUp,
  listExecutions,
  getExecution,
  listEvents,
  getEvent,
  listEventTypes,
  sendTestEvent,
  simulateEsim,
};
