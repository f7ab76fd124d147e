import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { clean } from '../print/clean.ts';
import { readPairs } from '../print/list.ts';
import { collect } from './esims.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

type ApiOptions = WriteOptions & { data?: string; query: string[] };

/** `api`: any operation by its method and path, including those without a command of their own. */
export function addApi(program: Command): void {
  const api = program
    .command('api')
    .description('call any operation and print the JSON that it returns')
    .addArgument(new Argument('<method>', 'HTTP method').choices(methods).argParser(readMethod))
    .argument('<path>', 'path, such as /v1/esims')
    .option('--data <json>', 'request body; @FILE reads a file, @- standard input')
    .option('--query <name=value>', 'query parameter; repeatable', collect, [])
    .addOption(idempotencyKeyOption());
  withAction<ApiOptions>(api, async ({ client, out }, options, [method = '', target = '']) => {
    const { path, query } = readTarget(target);
    const answer = await client.request(
      {
        method: method.toUpperCase(),
        path,
        query: { ...query, ...readPairs('--query', options.query) },
        ...(options.data !== undefined && { body: parseJson(await readData(options.data)) }),
      },
      keyOf(options),
    );
    if (out.isJson) return out.json(answer);
    for (const line of JSON.stringify(answer, null, 2).split('\n')) out.line(clean(line));
  });
}

function readMethod(text: string): string {
  if (!methods.includes(text.toUpperCase())) {
    throw new InvalidArgumentError(`Must be one of ${methods.join(', ')}.`);
  }
  return text;
}

/** Only a path: the key must not be sent to another address than the base URL. */
function readTarget(text: string) {
  if (/^[a-z]+:\/\//i.test(text)) {
    throw usageError(`Give only the path; got ${text}`, '--base-url or SIMPLANE_BASE_URL sets the address.');
  }
  const url = new URL(`http://path${text.startsWith('/') ? '' : '/'}${text}`);
  return { path: url.pathname, query: Object.fromEntries(url.searchParams) };
}

async function readData(given: string): Promise<string> {
  if (given === '@-') return readAll(process.stdin);
  if (!given.startsWith('@')) return given;
  return readFile(given.slice(1), 'utf8').catch((error: Error) => {
    throw usageError(`--data: ${error.message}`);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(
      `--data must be JSON: ${(error as Error).message}`,
      `Example: --data '{"product_id": "prod_europe_5gb_30d"}'`,
    );
  }
}
