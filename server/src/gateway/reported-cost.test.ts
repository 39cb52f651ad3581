import { describe, expect, test } from 'bun:test'
import { HeldChunk, HeldFrames, takeCostRequest, withCost } from './reported-cost'
import type { JsonObject } from '../wire/json-body'
import { namedFrame } from '../wire/sse'
import * as fc from '../../testing/property'

const take = (body: JsonObject, isTranslated = false) => {
  const { readBody, wantsCost } = takeCostRequest({ body, bytes: 1 }, isTranslated)
  return [readBody.body, wantsCost]
}

describe('finding D7: the request for the cost goes no further', () => {
  test.each<[JsonObject, JsonObject, boolean]>([
    [{ usage: { include: true } }, {}, true],
    [{ usage: { include: false } }, {}, false],
    [{ usage: 'include' }, {}, false],
    [{ usage: null, stream: true }, { stream: true }, false],
    [
      { usage: { include: true }, stream: true },
      { stream: true, stream_options: { include_usage: true } },
      true,
    ],
    [
      { usage: { include: true }, stream: true, stream_options: { include_usage: false, a: 1 } },
      { stream: true, stream_options: { include_usage: true, a: 1 } },
      true,
    ],
    [
      { usage: { include: true }, stream: true, stream_options: 7 },
      { stream: true, stream_options: 7 },
      true,
    ],
  ])('%j', (body, sent, wantsCost) => {
    expect(take(body)).toEqual([sent, wantsCost])
  })

  test('formats that always stream usage receive no chat field for it', () => {
    expect(take({ usage: { include: true }, stream: true }, true)).toEqual([{ stream: true }, true])
  })

  test('a request without it is not copied', () => {
    const read = { body: { model: 'a' }, bytes: 1 }
    expect(takeCostRequest(read, false).readBody).toBe(read)
  })
})

test('finding D7: the cost is a number of USD beside the counts', () => {
  const body = { id: 'a', usage: { prompt_tokens: 1, cost: 9 } }
  expect(withCost(body, 1_234_567n)).toEqual({
    id: 'a',
    usage: { prompt_tokens: 1, cost: 0.001234567 },
  })
  expect(withCost({ id: 'a' }, 1n)).toEqual({ id: 'a' })
})

test('finding D7: the chunk with the usage waits for the cost, and no other does', () => {
  const held = new HeldChunk()
  const text = JSON.stringify({ choices: [{ index: 0, delta: { content: '"choices":[]' } }] })
  const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 1 } })
  expect(held.hold([text, usage])).toEqual([text])
  expect(held.release(1_000_000n).map((chunk) => JSON.parse(chunk))).toEqual([
    { choices: [], usage: { prompt_tokens: 1, cost: 0.001 } },
  ])
  expect(held.release(1n)).toEqual([])
})

test('finding D7: the last events of a passed-through stream wait for the cost', () => {
  const text = namedFrame({ type: 'content_block_delta', delta: { text: 'event: message_delta' } })
  const delta = namedFrame({ type: 'message_delta', usage: { output_tokens: 1 } })
  const stop = namedFrame({ type: 'message_stop' })
  const messages = new HeldFrames()
  expect([...messages.hold([text]), ...messages.hold([delta]), ...messages.hold([stop])]).toEqual([
    text,
  ])
  const costed = { type: 'message_delta', usage: { output_tokens: 1, cost: 0.001 } }
  expect(messages.release(1_000_000n)).toEqual([namedFrame(costed), stop])
  const responses = new HeldFrames()
  const response = { output: [], usage: { input_tokens: 1 } }
  expect(responses.hold([namedFrame({ type: 'response.completed', response })])).toEqual([])
  const whole = { output: [], usage: { input_tokens: 1, cost: 0.001 } }
  expect(responses.release(1_000_000n)).toEqual([
    namedFrame({ type: 'response.completed', response: whole }),
  ])
})

test('finding D7: every usage has the charged cost, for all counts of providers', () => {
  const usage = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom('cost', 'input_tokens', 'toString', '__proto__')),
    fc.oneof(fc.jsonValue(), fc.constantFrom(Infinity, -1, 1e308)),
  )
  const property = fc.property(usage, fc.bigInt(0n, 10n ** 15n), (counted, cost) => {
    const usd = Number(cost) / 1e9
    const expected = JSON.parse(JSON.stringify({ ...counted, cost: usd }))
    const chunk = new HeldChunk()
    const written = JSON.stringify({ choices: [], usage: counted }).replaceAll('1e+308', '1e999')
    expect(chunk.hold([written])).toEqual([])
    const [last = ''] = chunk.release(cost)
    expect(JSON.parse(last).usage.cost).toBe(usd)
    const frames = new HeldFrames()
    expect(frames.hold([namedFrame({ type: 'message_delta', usage: counted })])).toEqual([])
    expect(frames.release(cost)).toEqual([namedFrame({ type: 'message_delta', usage: expected })])
  })
  fc.assert(property, { numRuns: 500 })
})

test.each([
  ['a text of a megabyte', 'x'.repeat(1024 * 1024)],
  ['a list', [1]],
  ['null', null],
  ['a number', 7],
])('finding D7: a usage that is %s stays as it is', (_what, usage) => {
  const held = new HeldChunk()
  const chunk = JSON.stringify({ choices: [], usage })
  expect([...held.hold([chunk]), ...held.release(1n)]).toEqual([chunk])
  const frames = new HeldFrames()
  const frame = namedFrame({ type: 'message_delta', usage })
  expect([...frames.hold([frame]), ...frames.release(1n)]).toEqual([frame])
})

test('finding D7: events behind the last one are not held without end', () => {
  const held = new HeldFrames()
  const first = namedFrame({ type: 'message_delta', usage: { output_tokens: 1 } })
  const more = namedFrame({ type: 'content_block_delta', delta: { text: 'x'.repeat(600_000) } })
  expect(held.hold(['a', first, more])).toEqual(['a'])
  expect(held.hold([more])).toEqual([first, more, more])
  expect(held.hold([first, more])).toEqual([first, more])
  expect(held.release(1n)).toEqual([])
})
