import { errorCodes, requestWays } from '@simplane/contract';
import type { RequestLogEntry } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { none, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, printResource } from '../print/table.ts';
import { readTime } from '../read-time.ts';

const columns: Column<RequestLogEntry>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => String(status), isRight: true },
  { title: 'REQUEST', value: ({ method, path }) => `${method} ${path}`, cutTo: 24 },
  { title: 'ERROR', value: ({ error }) => error?.code ?? none },
  { title: 'MS', value: ({ duration_ms }) => String(duration_ms), isRight: true, isSecondary: true },
  { title: 'KEY', value: ({ api_key }) => api_key.name, cutTo: 12, isSecondary: true },
  { title: 'CREATED', value: ({ created }) => time(created), isSecondary: true },
];

type ListOptions = {
  limit: number;
  all?: boolean;
  status?: string;
  error?: NonNullable<RequestLogEntry['error']>['code'];
  operation?: string;
  via?: RequestLogEntry['via'];
  since?: number;
  until?: number;
};

export function addRequests(program: Command): void {
  const requests = program.command('requests').description('the request log of the last seven days');

  const list = withListOptions(requests.command('list').description('list requests, newest first'))
    .option('--status <status>', 'only with this status, or of a class such as 4xx')
    .addOption(new Option('--error <code>', 'only with this error code').choices([...errorCodes]))
    .option('--operation <id>', 'only of this operation, such as createEsim')
    .addOption(new Option('--via <way>', 'only what came this way').choices([...requestWays]))
    .addOption(new Option('--since <time>', 'at or after: 2h (ago) or 2026-11-15').argParser(readTime))
    .addOption(new Option('--until <time>', 'before this time').argParser(readTime));
  withAction<ListOptions>(list, ({ client, out }, options) => {
    const filters = {
      ...(options.status !== undefined && { status: options.status }),
      ...(options.error !== undefined && { error_code: options.error }),
      ...(options.operation !== undefined && { operation: options.operation }),
      ...(options.via !== undefined && { via: options.via }),
      ...(options.since !== undefined && { 'created[gte]': options.since }),
      ...(options.until !== undefined && { 'created[lt]': options.until }),
    };
    return printList(out, options, (query) => client.requests.list({ ...query, ...filters }), {
      columns,
      empty: 'No requests. A live deployment may log only those that failed.',
    });
  });

  const get = requests
    .command('get')
    .description('show a request, its error and what to do about it')
    .argument('<id>', 'the Request-Id of a response (req_…)');
  withAction(get, async ({ client, out }, _, [id = '']) => printRequest(out, await client.requests.get(id)));
}

function printRequest(out: Output, request: RequestLogEntry): void {
  const { error, api_key: key } = request;
  printResource(out, request, [
    ['ID', request.id],
    ['Request', `${request.method} ${request.path}`],
    ['Operation', request.operation ?? none],
    ['Status', String(request.status)],
    ...(error
      ? ([
          ['Error', `${error.code}: ${error.message}`],
          ...(error.param === undefined ? [] : [['Parameter', error.param] as const]),
          ['What to do', error.remedy],
        ] as const)
      : []),
    ['Duration', `${request.duration_ms} ms`],
    ['Key', `${key.name} (${key.id}, …${key.last4})`],
    ['Idempotency', request.idempotency ?? none],
    ['Created ids', request.created_ids.join(', ') || none],
    ['Address', request.ip ?? none],
    ['Created', time(request.created)],
  ]);
}
