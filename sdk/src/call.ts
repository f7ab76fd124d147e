import { type Answer, dataOf } from './answer.ts';
import { SimplaneError } from './errors.ts';
import { endpoints, type Operations } from './generated.ts';
import type { CallOptions, Transport } from './transport.ts';

type OperationId = keyof Operations;
type PartOf<Id extends OperationId, Part extends string> = Operations[Id] extends { [P in Part]: infer Value }
  ? Value
  : undefined;

export type BodyOf<Id extends OperationId> = PartOf<Id, 'body'>;
export type QueryOf<Id extends OperationId> = PartOf<Id, 'query'>;
type ResultOf<Id extends OperationId> = Operations[Id]['result'];

/** A promise of the result. `withResponse` also returns the HTTP response. */
export type Call<Result> = Promise<Result> & {
  withResponse(): Promise<{ data: Result; response: Response }>;
};

type Input = { params?: Record<string, string>; query?: object | undefined; body?: unknown };

export type CallOperation = <Id extends OperationId>(
  id: Id,
  input?: Input,
  options?: CallOptions,
) => Call<ResultOf<Id>>;

/** What an operator's client uses for the operations that the deployment has like an account. */
export const operatorBase = '/v1/operator';

/** `base` replaces `/v1` in the paths. */
export function createCaller(transport: Transport, base = '/v1'): CallOperation {
  /** Async, so that invalid input rejects instead of throwing. */
  async function send(id: OperationId, { params = {}, query, body }: Input, options?: CallOptions) {
    const [method, template] = endpoints[id];
    const path = pathOf(template.replace('/v1', base), params);
    const request = { method, path, query: query as Record<string, unknown> | undefined, body };
    return transport(request, options, (answer) => ({ answer, data: dataOf(answer) }));
  }

  return <Id extends OperationId>(id: Id, input: Input = {}, options?: CallOptions) => {
    const sent = send(id, input, options);
    const result = sent.then(({ data }) => data as ResultOf<Id>);
    return Object.assign(result, {
      withResponse: () => {
        result.catch(() => {}); // the caller handles the rejection of the promise returned here
        return sent.then(({ answer, data }) => ({
          data: data as ResultOf<Id>,
          response: responseOf(answer),
        }));
      },
    });
  };
}

export function pathOf(template: string, params: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // An empty id would call the list, and `..` another resource.
    if (!value || value === '.' || value === '..')
      throw new SimplaneError(`${name} must be an id; got ${value}.`);
    return encodeURIComponent(value);
  });
}

function responseOf({ status, headers, bytes }: Answer): Response {
  return new Response(bytes, { status, headers });
}
