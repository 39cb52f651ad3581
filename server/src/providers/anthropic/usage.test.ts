import { expect, test } from 'bun:test'
import { toUsage } from './usage'
import { computeCost } from '../../metering/cost'

/** 3, 15, 0.3 and 3.75 USD per million tokens, in nano-dollars. */
const pricing = {
  input: 3_000_000_000n,
  output: 15_000_000_000n,
  cachedInput: 300_000_000n,
  cacheWrite: 3_750_000_000n,
}

test.each([
  ['plain', { input_tokens: 12, output_tokens: 30 }, 486_000n],
  ['read', { input_tokens: 4, cache_read_input_tokens: 18_000, output_tokens: 100 }, 6_912_000n],
  ['written', { input_tokens: 4, cache_creation_input_tokens: 2000, output_tokens: 1 }, 7_527_000n],
  [
    'read and written',
    {
      input_tokens: 1,
      cache_read_input_tokens: 1,
      cache_creation_input_tokens: 1,
      output_tokens: 1,
    },
    22_050n,
  ],
  [
    'with the parts of the cache writes, which add no tokens',
    {
      input_tokens: 10,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 0 },
      output_tokens: 0,
    },
    405_000n,
  ],
  ['a refusal before any output', { input_tokens: 18, output_tokens: 0 }, 54_000n],
  [
    'two passes',
    {
      input_tokens: 5,
      output_tokens: 5,
      iterations: [
        { type: 'compaction', input_tokens: 1000, output_tokens: 10 },
        { type: 'message', input_tokens: 5, output_tokens: 5 },
      ],
    },
    3_240_000n,
  ],
  ['output alone', { output_tokens: 7 }, 105_000n],
])('M12: %s, in nano-dollars', (_what, counts, nanos) => {
  const usage = toUsage(counts)
  if (!usage) throw new Error('No usage was read.')
  expect(usage).toMatchObject({ flawed: false, estimated: false })
  expect(computeCost(usage, pricing)).toBe(nanos)
})

test('M12: without any count there is no usage', () => {
  expect(toUsage({})).toBeUndefined()
  expect(toUsage({ service_tier: 'standard', input_tokens: null })).toBeUndefined()
})
