import { expect, test } from 'bun:test'
import { DataLoader } from './data-loader'

/** A database that answers when it is told to: each number with its double. */
function stage(limits: { patienceMs?: number; mostInBatch?: number } = {}) {
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
    patienceMs: 5000,
    ...limits,
  })
  return { statements, ask: (number: number) => batches.ask(number) }
}

const numbersUpTo = (most: number) => Array.from({ length: most }, (_, index) => index + 1)

/** Answers whatever is asked, until nothing is. */
async function answerAll(statements: ReturnType<typeof stage>['statements']): Promise<void> {
  for (let next = 0; next < statements.length; next++) {
    statements[next]?.answer()
    await Bun.sleep(0)
  }
}

test('1,000 at once are a handful of statements, and each gets its own answer', async () => {
  const { statements, ask } = stage()
  const answers = Promise.all(numbersUpTo(1000).map(ask))
  await answerAll(statements)
  expect(await answers).toEqual(numbersUpTo(1000).map((number) => 2 * number))
  expect(statements.length).toBeLessThanOrEqual(6)
  const asked = statements.flatMap(({ numbers }) => numbers)
  expect(asked.toSorted((a, b) => a - b)).toEqual(numbersUpTo(1000))
})

test('who comes first is asked for at once, and while two are asked for the others gather', async () => {
  const { statements, ask } = stage()
  const answers = Promise.all(numbersUpTo(4).map(ask))
  expect(statements.map(({ numbers }) => numbers)).toEqual([[1], [2]])
  await answerAll(statements)
  expect(await answers).toEqual([2, 4, 6, 8])
  expect(statements.map(({ numbers }) => numbers)).toEqual([[1], [2], [3, 4]])
})

test('a statement that takes its time holds nobody up', async () => {
  const { statements, ask } = stage()
  const slow = numbersUpTo(2).map(ask)
  const next = ask(3)
  await Bun.sleep(1)
  expect(statements).toHaveLength(2)
  await Bun.sleep(40)
  expect(statements.map(({ numbers }) => numbers)).toEqual([[1], [2], [3]])
  for (const { answer } of statements) answer()
  expect(await Promise.all([...slow, next])).toEqual([2, 4, 6])
})

test('a statement that fails is told to all it was for, and to nobody else', async () => {
  const { statements, ask } = stage()
  const answers = numbersUpTo(4).map(ask)
  statements[0]?.answer()
  await Bun.sleep(0)
  statements[2]?.answer(new Error('the connection was lost'))
  statements[1]?.answer()
  const told = (await Promise.allSettled(answers)).map(({ status }) => status)
  expect(told).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
})

test('without an answer all are told in time; what was not sent by then never is', async () => {
  const { statements, ask } = stage({ patienceMs: 60, mostInBatch: 1 })
  const startedAt = performance.now()
  const told = await Promise.allSettled(numbersUpTo(12).map(ask))
  expect(told.map(({ status }) => status)).toEqual(Array(12).fill('rejected'))
  expect(performance.now() - startedAt).toBeLessThan(1000)
  const sent = statements.flatMap(({ numbers }) => numbers)
  expect(sent.length).toBeWithin(2, 9)
  await Bun.sleep(60)
  expect(statements).toHaveLength(sent.length)
  // The next one is asked for as ever.
  const next = ask(13)
  await answerAll(statements)
  expect(await next).toBe(26)
})
