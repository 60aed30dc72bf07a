/** `exec --output-schema`: sent to the model, and checked. */
import { expect, test } from 'vitest';
import { ExecWorld } from '../support/exec-world.js';
import { answer } from '../support/scripted-answers.js';

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'number' }, kind: { enum: ['x', 'y'] } },
  required: ['a'],
  additionalProperties: false,
};

async function run(answers: string[], schema: object = SCHEMA) {
  const world = await ExecWorld.create(answers.map(say => answer({ say })));
  world.write('work/s.json', JSON.stringify(schema));
  const ran = await world.json(['--output-schema', 's.json', 'hi']);
  return { ...ran, requests: world.server.requests.map(({ body }) => body), world };
}

test('an answer that matches is taken as it is', async () => {
  const { code, requests, items } = await run(['{"a":1}']);
  expect(code).toBe(0);
  expect(requests).toHaveLength(1);
  expect(requests[0]?.['text']).toMatchObject({ format: { type: 'json_schema', strict: true, schema: SCHEMA } });
  expect(items.at(-1)).toMatchObject({ text: '{"a":1}' });
});

test.each([
  ['{"a":"1"}', '/a must be number'],
  ['{}', "must have required property 'a'"],
  ['{"a":1,"b":2}', 'must NOT have additional properties: b'],
  ['{"a":1,"kind":"z"}', 'must be equal to one of the allowed values: "x", "y"'],
  ['The answer is 1.', 'it is no JSON'],
  ['```json\n{"a":1}\n```', 'it is no JSON'],
])('%j is told to the model, which may mend it once', async (wrong, problem) => {
  const { code, requests, items } = await run([wrong, '{"a":2}']);
  expect(code).toBe(0);
  expect(requests).toHaveLength(2);
  const input = requests[1]?.['input'] as { role: string; content: { text: string }[] }[];
  expect(input.at(-1)).toMatchObject({ role: 'developer', content: [{ text: expect.stringContaining(problem) }] });
  expect(items.at(-1)).toMatchObject({ text: '{"a":2}' });
});

test('a second wrong answer fails the turn', async () => {
  const { code, requests, events } = await run(['{}', '{"a":true}', '{"a":1}']);
  expect(code).toBe(1);
  expect(requests).toHaveLength(2);
  expect(events.at(-1)).toMatchObject({
    type: 'turn.failed',
    error: { message: expect.stringMatching(/does not match the output schema.*\/a must be number/) },
  });
});

test('a schema of draft 7 is read as one, and one that can not be used is a warning', async () => {
  const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', ...SCHEMA, definitions: {} };
  expect((await run(['{"a":1}'], draft7)).code).toBe(0);
  const { code, items } = await run(['{"a":1}'], { $ref: '#/nowhere' });
  expect(code).toBe(0);
  expect(items.find(item => item.type === 'error')).toMatchObject({
    message: expect.stringContaining("can't be used to check the answer"),
  });
});
