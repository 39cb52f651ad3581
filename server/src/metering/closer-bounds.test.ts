import { describe, expect, test } from 'bun:test'
import { CloserBounds, maxSavedTokens, vocabularyOf, withSavedTokens } from './closer-bounds'
import type { BoundedTokens, Vocabulary } from './token-worker'
import type { TokenBounds } from './worst-case'
import { EventLoopShares } from '../limits/event-loop-shares'

const text = 'word '.repeat(1000)

/** Bounds whose counter answers when the test says so, on a clock that stands still. */
function createBounds() {
  const waiting: ((answer: BoundedTokens | undefined) => void)[] = []
  const clock = { ms: 0 }
  const shares = new EventLoopShares({ now: () => clock.ms })
  const counter = {
    bound: () => new Promise<BoundedTokens | undefined>((resolve) => waiting.push(resolve)),
  }
  const bounds = new CloserBounds({ counter, shares, max: 3, maxOfAccount: 2 })
  const count = (accountId: string) => bounds.count({ accountId, texts: [text], vocabulary: 'any' })
  return { bounds, count, waiting, clock, [Symbol.dispose]: () => shares[Symbol.dispose]() }
}

describe('counts of one process', () => {
  test('are few at a time, and fewer of one account', async () => {
    using opened = createBounds()
    const { bounds, count, waiting } = opened
    const first = [count('a'), count('a')]
    expect([bounds.mayCount('a'), bounds.mayCount('b')]).toEqual([false, true])
    const second = count('b')
    expect([bounds.mayCount('b'), bounds.mayCount('c')]).toEqual([false, false])
    for (const answer of waiting) answer({ maxTokens: 2000, tookMs: 5 })
    const saved = { savedTokens: 3000, tookMs: 5 }
    expect(await Promise.all([...first, second])).toEqual([saved, saved, saved])
    expect(['a', 'b', 'c'].map((account) => bounds.mayCount(account))).toEqual([true, true, true])
  })

  test('finding M23: an account that is still rejected has a twentieth of the time', () => {
    using opened = createBounds()
    const { bounds, clock } = opened
    const perSecond: number[] = []
    for (let second = 0; second < 60; second++) {
      let counts = 0
      while (bounds.mayCount('a')) {
        bounds.charge('a', 10, 'idle')
        counts += 1
      }
      perSecond.push(counts)
      clock.ms += 1000
    }
    // A burst of half a second of waiting, then 50 ms each second.
    expect(perSecond[0]).toBeLessThanOrEqual(3)
    expect(perSecond.reduce((sum, counts) => sum + counts, 0) * 10).toBeLessThanOrEqual(
      60 * 50 + 50,
    )
    expect(bounds.mayCount('b')).toBeTrue()
  })

  test('an uncounted text, or one with more tokens than bytes, saves nothing', async () => {
    using opened = createBounds()
    const { count, waiting } = opened
    const counting = [count('a'), count('a')]
    waiting[0]?.(undefined)
    waiting[1]?.({ maxTokens: 9999, tookMs: 1 })
    const [uncounted, longer] = await Promise.all(counting)
    expect([uncounted?.savedTokens, longer?.savedTokens]).toEqual([0, 0])
  })
})

test.each<[string, string, Vocabulary]>([
  ['openai', 'gpt-4o-mini', 'o200k_base'],
  ['openai', 'gpt-5.1-codex', 'o200k_base'],
  ['azure', 'o3', 'o200k_base'],
  ['openai', 'gpt-4', 'cl100k_base'],
  ['openai', 'gpt-4-turbo', 'cl100k_base'],
  ['openai', 'text-embedding-3-small', 'cl100k_base'],
  ['openai', 'ft:gpt-4o', 'any'],
  ['openai', 'o1000', 'any'],
  ['openai', 'gpt-9', 'any'],
  ['anthropic', 'claude-sonnet-4-5', 'any'],
  // A name proves nothing about another maker's server.
  ['vllm', 'gpt-4o', 'any'],
])('the vocabulary of %s %s is %s', (key, upstreamModel, vocabulary) => {
  expect(vocabularyOf({ key }, { upstreamModel })).toBe(vocabulary)
})

const volume: TokenBounds = {
  inputTokens: 51_000,
  maxPromptTokens: 40_000,
  serviceTier: undefined,
  choices: 1,
  outputLimit: 100,
  extraOutputTokens: 0,
  inputsAudio: false,
  outputsAudio: false,
  images: 1,
  requests: 1,
  searches: 0,
}

test('a closer volume has fewer tokens, the same prompt at most, and stays within its bytes', () => {
  expect(withSavedTokens(volume, 10_000)).toEqual({
    ...volume,
    inputTokens: 41_000,
    inputTokensByBytes: 51_000,
  })
  expect(withSavedTokens(volume, 30_000)).toMatchObject({
    inputTokens: 21_000,
    maxPromptTokens: 21_000,
  })
  expect([maxSavedTokens(1000, 'any'), maxSavedTokens(1000, 'o200k_base')]).toEqual([600, 875])
})
