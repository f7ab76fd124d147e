import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram, explain } from './create-program.ts';

/** All commands, with what each needs and what it assumes. */
function listOf(command: Command, path: string[] = []): [name: string, needs: string[], assumes: object][] {
  if (command.commands.length > 0)
    return command.commands.flatMap((child) => listOf(child, [...path, child.name()]));
  const needs = [
    ...command.registeredArguments.filter(({ required }) => required).map((argument) => argument.name()),
    ...command.options.filter(({ mandatory }) => mandatory).map(({ long }) => long ?? ''),
  ];
  return [[path.join(' '), needs, command.opts()]];
}

const noJson = { json: false };

test('a command that is given little assumes little: no more rights, no more rows, nothing that cannot be undone', () => {
  expect(listOf(createProgram())).toEqual([
    ['serve', [], {}],
    ['migrate', [], {}],
    ['accounts create', ['--name'], noJson],
    ['accounts list', [], noJson],
    ['accounts update', ['id'], noJson],
    ['accounts close', ['id'], { ...noJson, terminateEsims: false }],
    ['accounts erase', ['id'], noJson],
    ['accounts move', ['id', '--to'], { undo: false }],
    ['accounts export', ['id', '--out'], {}],
    ['keys create', [], { ...noJson, scopes: 'read,write' }],
    ['keys list', [], noJson],
    ['keys revoke', ['id'], noJson],
    ['keys roll', ['id'], { ...noJson, expiresIn: '1d' }],
    ['dashboard-link', [], { operator: false }],
    ['executions list', [], { ...noJson, limit: '20' }],
    ['executions show', ['id'], noJson],
    ['executions retry', ['id'], noJson],
    ['executions resolve', ['id', '--outcome'], noJson],
    ['core changes', [], { ...noJson, state: 'pending' }],
    ['core resync', [], noJson],
    ['catalog import', ['file'], noJson],
    ['catalog list', [], noJson],
    ['catalog deactivate', ['id'], noJson],
    ...['overview', 'processes', 'networks', 'stock'].map((name) => [name, [], noJson]),
    ['endpoints failing', [], noJson],
    ['reseal', [], noJson],
    ['doctor', [], noJson],
  ]);
});

test('an error is told without a stack, with what to do if the port is taken, and the first of several', () => {
  const taken = Object.assign(new Error('listen EADDRINUSE: address already in use :::4000'), {
    code: 'EADDRINUSE',
  });
  expect(explain(taken)).toBe(
    'listen EADDRINUSE: address already in use :::4000; set PORT to a free port, or stop the other process',
  );
  expect(explain(new AggregateError([new Error('connect ECONNREFUSED'), taken]))).toBe(
    'connect ECONNREFUSED',
  );
  expect([explain(new Error('no')), explain('text')]).toEqual(['no', 'text']);
});
