import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkExecpolicy } from '../../src/cli/execpolicy-command.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync('/var/tmp/execpolicy-');
  writeFileSync(
    join(folder, 'a.rules'),
    'prefix_rule(pattern=["git", ["push", "pull"]], decision="prompt", justification="look")\n',
  );
  writeFileSync(join(folder, 'b.rules'), 'prefix_rule(pattern=["git"])\n');
  writeFileSync(join(folder, 'bad.rules'), '\nprefix_rule(pattern=[])\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(files: string[], command: string[], pretty = false) {
  let [out, err] = ['', ''];
  const rules = files.map(name => join(folder, name));
  const status = await checkExecpolicy(
    { rules, command, pretty },
    { out: text => void (out += text), err: text => void (err += text) },
  );
  return { status, out, err: err.replaceAll(`${folder}/`, '') };
}

test('prints the rules that match and the strictest decision, on one line', async () => {
  expect(await run(['a.rules', 'b.rules'], ['git', 'push', 'origin'])).toEqual({
    status: 0,
    out:
      '{"matchedRules":[{"prefixRuleMatch":{"matchedPrefix":["git","push"],"decision":"prompt","justification":"look"}},' +
      '{"prefixRuleMatch":{"matchedPrefix":["git"],"decision":"allow"}}],"decision":"prompt"}\n',
    err: '',
  });
});

test('prints no decision when nothing matches', async () => {
  expect(await run(['a.rules'], ['ls'])).toEqual({ status: 0, out: '{"matchedRules":[]}\n', err: '' });
});

test('prints indented when asked to', async () => {
  const { out } = await run(['b.rules'], ['git'], true);
  expect(out).toBe(`${JSON.stringify(JSON.parse(out), null, 2)}\n`);
});

test('a file that is wrong or missing is named, and nothing is printed', async () => {
  expect(await run(['a.rules', 'bad.rules', 'missing.rules'], ['git', 'push'])).toEqual({
    status: 1,
    out: '',
    err: expect.stringMatching(
      /^bad\.rules:2:21: pattern must not be empty\nmissing\.rules:1:1: can't be read: ENOENT.*\n$/,
    ),
  });
});

test('without a file or a command it says how it is used', async () => {
  expect(await run([], ['git'])).toMatchObject({ status: 2, err: expect.stringContaining('--rules FILE') });
  expect(await run(['a.rules'], [])).toMatchObject({ status: 2, out: '' });
});
