import { describe, expect, it } from 'vitest';
import { noTracer, readTraceContext, traceEnvironment, writeTraceContext } from '../../src/util/index.js';

const ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('a traceparent', () => {
  it.each([
    ['as the standard writes it', `00-${ID}-${SPAN}-01`, 1],
    ['that is not recorded', `00-${ID}-${SPAN}-00`, 0],
    ['in upper case, with spaces around', `  00-${ID.toUpperCase()}-${SPAN}-01\n`, 1],
    ['of a later version with more parts', `01-${ID}-${SPAN}-03-what-ever`, 3],
  ])('%s is read', (_, traceparent, flags) => {
    expect(readTraceContext({ traceparent })).toEqual({ traceId: ID, spanId: SPAN, flags });
  });

  it.each([
    ['nothing', undefined],
    ['no ids', '00-x-y-01'],
    ['an id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeros', `00-${ID}-${'0'.repeat(16)}-01`],
    ['the forbidden version', `ff-${ID}-${SPAN}-01`],
    ['more parts than version 00 has', `00-${ID}-${SPAN}-01-x`],
    ['a line break inside', `00-${ID}-${SPAN}-01\nx: y`],
  ])('%s is none', (_, traceparent) => {
    expect(readTraceContext({ traceparent })).toBeNull();
    expect(noTracer.span('x', {}, { traceparent }).context()).toEqual({});
  });
});

describe('a tracestate', () => {
  it.each([
    ['a=1,b@c=2', 'a=1,b@c=2'],
    [' a=1 , ,b=2 ', 'a=1,b=2'],
    ['a=x\ny', undefined],
    ['NO=1', undefined],
    ['', undefined],
    [Array.from({ length: 33 }, (_, at) => `k${at}=v`).join(','), undefined],
  ])('%j becomes %j, and the parent stays', (tracestate, expected) => {
    const read = readTraceContext({ traceparent: `00-${ID}-${SPAN}-01`, tracestate });
    expect(read?.tracestate).toBe(expected);
    expect(read?.traceId).toBe(ID);
  });
});

it('what is passed on is of version 00', () => {
  const context = writeTraceContext({ traceId: ID, spanId: SPAN, flags: 0xff, tracestate: 'a=b' });
  expect(context).toEqual({ traceparent: `00-${ID}-${SPAN}-03`, tracestate: 'a=b' });
  expect(traceEnvironment(context)).toEqual({ TRACEPARENT: context.traceparent, TRACESTATE: 'a=b' });
  expect(traceEnvironment({})).toEqual({});
});
