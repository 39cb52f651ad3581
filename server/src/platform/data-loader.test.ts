import { expect, test } from 'bun:test'
import { DataLoader } from './data-loader'
import { recordFigure } from '../../testing/figures'
import { eventually } from '../../testing/eventually'

/** Creates a database that answers each number with its double, when the test lets it. */
function createFixture({
  timeoutMs = 60_000,
  ...limits
}: { timeoutMs?: number; maxBatch?: number } = {}) {
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
    ...limits,
  })
  return { statements, load: (number: number) => batches.load(number) }
}

const numbersUpTo = (max: number) => Array.from({ length: max }, (_, index) => index + 1)

/** Answers all statements, and those that follow. */
async function answerAll(
  statements: ReturnType<typeof createFixture>['statements'],
): Promise<void> {
  for (let next = 0; next < statements.length; next++) {
    statements[next]?.answer()
    await Bun.sleep(0)
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
  const { statements, load } = createFixture()
  const slow = numbersUpTo(2).map(load)
  const next = load(3)
  expect(statements).toHaveLength(2)
  // As long as a statement counts as slow.
  await eventually(() => statements.length >= 3)
  expect(statements.map(({ numbers }) => numbers)).toEqual([[1], [2], [3]])
  for (const { answer } of statements) answer()
  expect(await Promise.all([...slow, next])).toEqual([2, 4, 6])
})

test('a failed statement rejects the lookups of its batch and no others', async () => {
  const { statements, load } = createFixture()
  const answers = numbersUpTo(4).map(load)
  statements[0]?.answer()
  await Bun.sleep(0)
  statements[2]?.answer(new Error('the connection was lost'))
  statements[1]?.answer()
  const results = (await Promise.allSettled(answers)).map(({ status }) => status)
  expect(results).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
})

test('rejects all lookups on timeout, and never sends those that were not sent in time', async () => {
  const { statements, load } = createFixture({ timeoutMs: 60, maxBatch: 1 })
  const startedAt = performance.now()
  const results = await Promise.allSettled(numbersUpTo(12).map(load))
  expect(results.map(({ status }) => status)).toEqual(Array(12).fill('rejected'))
  recordFigure('twelve lookups that are given up after 60 ms', performance.now() - startedAt, {
    unit: 'ms',
    atMost: 1000,
  })
  const sent = statements.flatMap(({ numbers }) => numbers)
  expect(sent.length).toBeWithin(2, 9)
  await Bun.sleep(60)
  expect(statements).toHaveLength(sent.length)
  // A later lookup is sent as usual.
  const next = load(13)
  statements.at(-1)?.answer()
  expect(await next).toBe(26)
})

test('finding M19: slow statements leave connections to other work: a bounded number is unanswered at a time', async () => {
  const open = { now: 0, peak: 0 }
  const batches = new DataLoader<number, number>({
    answer: async (batch) => {
      open.now += 1
      open.peak = Math.max(open.peak, open.now)
      await Bun.sleep(10)
      open.now -= 1
      return batch
    },
    timeoutMs: () => 60_000,
    maxBatch: 1,
    maxDelayMs: 1,
    maxUnanswered: 3,
  })
  const numbers = numbersUpTo(12)
  expect(await Promise.all(numbers.map((number) => batches.load(number)))).toEqual(numbers)
  expect(open).toEqual({ now: 0, peak: 3 })
})
