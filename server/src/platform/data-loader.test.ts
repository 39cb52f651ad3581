import { expect, test } from 'bun:test'
import { DataLoader } from './data-loader'
import { settled, TestClock } from '../../testing/clock'

/** Creates a database that answers each number with its double, when the test lets it. */
function createFixture({
  timeoutMs = 60_000,
  ...limits
}: { timeoutMs?: number; maxBatch?: number } = {}) {
  const clock = new TestClock()
  const statements: { numbers: number[]; answer: (fails?: Error) => void }[] = []
  const batches = new DataLoader<number, number>({
    answer: (batch) => {
      const { promise, resolve, reject } = Promise.withResolvers<number[]>()
      const numbers = [...batch]
      const answer = (fails?: Error) => {
        if (fails) reject(fails)
        else resolve(numbers.map((number) => 2 * number))
      }
      statements.push({ numbers, answer })
      return promise
    },
    timeoutMs: () => timeoutMs,
    clock,
    ...limits,
  })
  return { clock, statements, load: (number: number) => batches.load(number) }
}

const numbersUpTo = (max: number) => Array.from({ length: max }, (_, index) => index + 1)

/** Answers all statements, and those that follow. */
async function answerAll(
  statements: ReturnType<typeof createFixture>['statements'],
): Promise<void> {
  for (let next = 0; next < statements.length; next++) {
    statements[next]?.answer()
    await settled()
  }
}

test('sends 1,000 concurrent lookups in a handful of statements, and answers each', async () => {
  const { statements, load } = createFixture()
  const answers = Promise.all(numbersUpTo(1000).map(load))
  await answerAll(statements)
  expect(await answers).toEqual(numbersUpTo(1000).map((number) => 2 * number))
  expect(statements.length).toBeLessThanOrEqual(6)
  const sent = statements.flatMap(({ numbers }) => numbers)
  expect(sent.toSorted((a, b) => a - b)).toEqual(numbersUpTo(1000))
})

test('sends the first lookups at once, and collects the others while two statements run', async () => {
  const { statements, load } = createFixture()
  const answers = Promise.all(numbersUpTo(4).map(load))
  expect(statements.map(({ numbers }) => numbers)).toEqual([[1], [2]])
  await answerAll(statements)
  expect(await answers).toEqual([2, 4, 6, 8])
  expect(statements.map(({ numbers }) => numbers)).toEqual([[1], [2], [3, 4]])
})

test('a slow statement does not delay the next batch', async () => {
  const { clock, statements, load } = createFixture()
  const slow = numbersUpTo(2).map(load)
  const next = load(3)
  // A statement that takes no longer than this does not count as slow.
  await clock.advance(24)
  expect(statements).toHaveLength(2)
  await clock.advance(1)
  expect(statements.map(({ numbers }) => numbers)).toEqual([[1], [2], [3]])
  for (const { answer } of statements) answer()
  expect(await Promise.all([...slow, next])).toEqual([2, 4, 6])
})

test('a failed statement rejects the lookups of its batch and no others', async () => {
  const { statements, load } = createFixture()
  const answers = numbersUpTo(4).map(load)
  statements[0]?.answer()
  await settled()
  statements[2]?.answer(new Error('the connection was lost'))
  statements[1]?.answer()
  const results = (await Promise.allSettled(answers)).map(({ status }) => status)
  expect(results).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
})

test('rejects all lookups on timeout, and never sends lookups that missed it', async () => {
  const { clock, statements, load } = createFixture({ timeoutMs: 60, maxBatch: 1 })
  const startedMs = clock.monotonicMs()
  const results = await clock.run(Promise.allSettled(numbersUpTo(12).map(load)))
  expect(results.map(({ status }) => status)).toEqual(Array(12).fill('rejected'))
  expect(clock.monotonicMs() - startedMs).toBe(60)
  // Two at once, and two more after 25 and 50 ms.
  expect(statements.flatMap(({ numbers }) => numbers)).toEqual(numbersUpTo(6))
  await clock.advance(60)
  expect([statements.length, clock.pending]).toEqual([6, 0])
  // A later lookup is sent as usual.
  const next = load(13)
  statements.at(-1)?.answer()
  expect(await next).toBe(26)
})

test('finding M19: slow statements leave connections to other work: a bounded number is unanswered at a time', async () => {
  const clock = new TestClock()
  const open = { now: 0, peak: 0 }
  const batches = new DataLoader<number, number>({
    answer: async (batch) => {
      open.now += 1
      open.peak = Math.max(open.peak, open.now)
      await clock.sleep(10)
      open.now -= 1
      return batch
    },
    timeoutMs: () => 60_000,
    maxBatch: 1,
    maxDelayMs: 1,
    maxUnanswered: 3,
    clock,
  })
  const numbers = numbersUpTo(12)
  const loaded = Promise.all(numbers.map((number) => batches.load(number)))
  expect(await clock.run(loaded)).toEqual(numbers)
  expect(open).toEqual({ now: 0, peak: 3 })
})
