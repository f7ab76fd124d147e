import { describe, expect, test } from 'vitest';
import { generateApiKey } from '../accounts/api-key-text.ts';
import { readConfig } from './read-config.ts';

const first = generateApiKey('sandbox');
const eu = generateApiKey('sandbox', 'eu');

const cellsOf = (SIMPLANE_CELLS: string, env: Record<string, string> = {}) =>
  readConfig({ SIMPLANE_CELLS, ...env }).config.cells;

describe('SIMPLANE_CELLS', () => {
  test('has the label of each cell in its key', () => {
    expect(cellsOf(`https://:${first}@10.0.1.10:4000, https://:${eu}@eu.example`)).toEqual([
      { cell: null, origin: 'https://10.0.1.10:4000', key: first },
      { cell: 'eu', origin: 'https://eu.example', key: eu },
    ]);
    expect(readConfig({}).config.cells).toBeNull();
  });

  test.each([
    ['http://:KEY@127.0.0.1:4000'],
    ['http://:KEY@localhost:4000'],
    ['http://:KEY@[::1]:4000'],
    ['http://:KEY@10.1.2.3'],
    ['http://:KEY@172.31.0.1'],
    ['http://:KEY@192.168.0.1'],
    ['http://:KEY@[fd00::1]:4000'],
  ])('may go without TLS where only the operator is: %s', (url) => {
    expect(cellsOf(url.replace('KEY', eu))).toHaveLength(1);
  });

  test.each([
    ['eu.example', 'entry 1 is not a URL'],
    [':KEY@eu.example', 'entry 1 is not a URL'],
    ['https://:KEY@eu.example,', 'entry 2 is not a URL'],
    ['postgres://:KEY@eu.example', 'must begin with https://'],
    ['https://:KEY@eu.example/v1', 'neither a path nor a query'],
    ['https://:KEY@eu.example?cell=eu', 'neither a path nor a query'],
    ['https://:KEY@eu.example#eu', 'neither a path nor a query'],
    ['https://eu.example', 'needs an operator’s key'],
    ['https://KEY@eu.example', 'needs an operator’s key'],
    ['https://me:KEY@eu.example', 'needs an operator’s key'],
    ['https://:KEYx@eu.example', 'is not a key that'],
    ['https://:sp_test_chosen_by_a_user_1234567890@eu.example', 'is not a key that'],
    ['http://:KEY@eu.example', 'http is only for loopback and private'],
    ['http://:KEY@8.8.8.8', 'http is only for loopback and private'],
    ['http://:KEY@169.254.169.254', 'http is only for loopback and private'],
    ['https://:KEY@a.example,https://:KEY@b.example', 'entries 1 and 2 are both of the cell "eu"'],
  ])('is refused, and its key not repeated: %s', (text, says) => {
    const refused = () => cellsOf(text.replaceAll('KEY', eu));
    expect(refused).toThrow(says);
    expect(refused).toThrow(/^(?!.*sp_test_).*$/s);
  });

  test('has keys of the deployment’s mode', () => {
    const live = `https://:${generateApiKey('live', 'eu')}@eu.example`;
    expect(() => cellsOf(live)).toThrow('entry 1: in sandbox mode, keys begin with sp_test_');
  });
});
