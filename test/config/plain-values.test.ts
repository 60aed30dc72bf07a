import { expect, test } from 'vitest';
import * as z from 'zod';
import { ConfigError, configJsonSchema } from '../../src/config/index.js';
import { World } from './world.js';

const VALUES = ['""', '"x"', '"never"', '"on-failure"', 'true', '0', '-1', '0.5', '[]', '["x"]', '[1]'];

test('no value is taken that the JSON Schema refuses, however simple its key is', () => {
  const json = configJsonSchema();
  const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(json)));
  const world = new World();
  const taken = Object.keys(json.properties ?? {}).flatMap(key =>
    VALUES.filter(value => {
      const refused = !schema.safeParse({ [key]: JSON.parse(value) }).success;
      world.config(`${key} = ${value}\n`);
      return refused && loads(world);
    }).map(value => `${key} = ${value}`),
  );
  expect(taken).toEqual([]);
});

function loads(world: World): boolean {
  try {
    world.load();
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}
