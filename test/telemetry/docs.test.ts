/** The lists of docs/telemetry.md and what the product tells are the same. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'docs/telemetry.md'), 'utf8');

/** The names in the first column of the table below a heading. */
function listed(heading: string): string[] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section.split('\n').flatMap(line => {
    const cell = /^\| ([^|]*) \|/.exec(line)?.[1] ?? '';
    return [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '');
  });
}

const source = ['agent', 'tools', 'mcp-server', 'telemetry', 'cli']
  .flatMap(room =>
    readdirSync(join(root, 'src', room), { recursive: true, encoding: 'utf8' }).map(name => join(room, name)),
  )
  .filter(name => name.endsWith('.ts'))
  .map(name => readFileSync(join(root, 'src', name), 'utf8'))
  .join('\n');

const found = (pattern: RegExp) => [...new Set([...source.matchAll(pattern)].map(match => match[1] ?? ''))].sort();

it('events that are recorded are those that the document lists', () => {
  expect(listed('Log events').sort()).toEqual(found(/\.event\(\s*'([\w.]+)'/g));
});

it('metrics that are recorded are those that the document lists', () => {
  expect(listed('Metrics').sort()).toEqual(found(/'([\w.]+)': (?:counter|updown|histogram)\(/g));
});

it('spans that are recorded are those that the document lists', () => {
  const names = listed('Traces').map(name => name.split(' ')[0]);
  const made = found(/\.span\(\s*(?:\/\/.*\n\s*)?['`](?:\$\{METHOD\}|([\w./]+))/g).map(name => name || 'tools/call');
  expect(new Set(names)).toEqual(new Set(made));
});

it('attributes of spans are all named in the document', () => {
  const attributes = found(/'((?:gen_ai|mcp|jsonrpc|rpc|network|process|codex|server|http)\.[\w.]+)':/g);
  const metricsAndEvents = new Set([...listed('Metrics'), ...listed('Log events')]);
  const missing = attributes.filter(name => !metricsAndEvents.has(name) && !text.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});
