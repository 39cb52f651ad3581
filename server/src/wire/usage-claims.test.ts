import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import type { JsonObject } from './json-body'
import { completionTokens, noUsage, promptTokens, type Usage } from './usage'
import {
  findMissing,
  maxUsage,
  withBoundedOutput,
  withEstimated,
  type MissingSides,
} from './usage-claims'

const bucket = fc.nat(1_000_000)
const usage: fc.Arbitrary<Usage> = fc.record({
  input: bucket,
  cachedInput: bucket,
  cacheWrite: bucket,
  audioInput: bucket,
  output: bucket,
  reasoning: bucket,
  audioOutput: bucket,
  cacheWriteLong: bucket,
  imageInput: bucket,
  imageOutput: bucket,
  searches: bucket,
  estimated: fc.boolean(),
  flawed: fc.boolean(),
})

test('M8: a usage that shrinks counts by the larger of each side, and is flawed', () => {
  const first = { ...noUsage, input: 25, output: 30 }
  const last = { ...noUsage, input: 1, output: 1 }
  expect(maxUsage(first, last)).toEqual({ ...first, flawed: true })
  expect(maxUsage(last, first)).toEqual(first)
  const prompt = { ...noUsage, input: 5, cachedInput: 20, output: 90 }
  expect(maxUsage(first, prompt)).toEqual(prompt)
})

test('M8: parts that are named later do not count twice', () => {
  const first = { ...noUsage, input: 100, output: 10 }
  const last = { ...noUsage, input: 10, cachedInput: 90, output: 4, reasoning: 6 }
  expect(maxUsage(first, last)).toEqual(last)
})

test('M8: prompt and output are each the maximum of two usages', () => {
  const property = fc.property(usage, usage, (a, b) => {
    const larger = maxUsage(a, b)
    expect(promptTokens(larger)).toBe(Math.max(promptTokens(a), promptTokens(b)))
    expect(completionTokens(larger)).toBe(Math.max(completionTokens(a), completionTokens(b)))
  })
  fc.assert(property, { numRuns: 1000 })
})

test('finding M11: implausible output is left out, and the prompt is not', () => {
  const property = fc.property(usage, bucket, (counted, limit) => {
    const limited = withBoundedOutput(counted, limit)
    expect(completionTokens(limited)).toBe(Math.min(completionTokens(counted), limit))
    expect(promptTokens(limited)).toBe(promptTokens(counted))
    const isLess = completionTokens(counted) > limit
    expect(limited.flawed).toBe(counted.flawed || (isLess && !counted.estimated))
    for (const name of ['output', 'reasoning', 'audioOutput'] as const) {
      expect(limited[name]).toBeWithin(0, counted[name] + 1)
    }
  })
  fc.assert(property, { numRuns: 1000 })
})

test('finding V19: a side that a provider counted is not charged beside its estimate', () => {
  const sides = fc.record({ prompt: fc.boolean(), output: fc.boolean() })
  const property = fc.property(usage, usage, sides, (found, estimate, missing) => {
    const counted = {
      ...found,
      ...(missing.prompt && { input: 0 }),
      ...(missing.output && { output: 0 }),
    }
    const complete = withEstimated(counted, missing, estimate)
    const larger = (of: (counts: Usage) => number, isMissing: boolean) =>
      isMissing ? Math.max(of(estimate), of(counted)) : of(counted)
    expect(promptTokens(complete)).toBe(larger(promptTokens, missing.prompt))
    expect(completionTokens(complete)).toBe(larger(completionTokens, missing.output))
    expect({ ...complete, input: 0, output: 0 }).toEqual({
      ...counted,
      input: 0,
      output: 0,
      estimated: true,
    })
  })
  fc.assert(property, { numRuns: 1000 })
})

const blocks: [string, JsonObject, Partial<Usage>, MissingSides?][] = [
  ['both sides', { prompt_tokens: 1, completion_tokens: 2 }, { input: 1, output: 2 }],
  ['a total', { total_tokens: 3, completion_tokens: 3 }, { output: 3 }],
  ['a prompt of zero', { prompt_tokens: 0, completion_tokens: 2 }, { output: 2 }],
  ['a prompt in an earlier block', { completion_tokens: 2 }, { input: 1, output: 2 }],
  ['no prompt', { completion_tokens: 2 }, { output: 2 }, { prompt: true, output: false }],
  [
    'a null',
    { prompt_tokens: null, completion_tokens: 2 },
    { output: 2 },
    { prompt: true, output: false },
  ],
  ['no output', { prompt_tokens: 1 }, { input: 1 }, { prompt: false, output: true }],
]

test.each(blocks)('finding V19: a block with %s lacks its uncounted side', (...row) => {
  const [, block, counts, missing] = row
  expect(findMissing({ ...noUsage, ...counts }, block)).toEqual(missing)
})
