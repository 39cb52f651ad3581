import { expect, test } from 'bun:test'
import { LeaseBatches } from './lease-batches'
import type { LeaseAnswer } from './lease-answer'
import type { LeaseClaim } from './take-lease'
import { withTimeout } from '../platform/with-timeout'
import { settled, TestClock } from '../../testing/clock'

const refused = new Error('refused')

/** What was asked for tells whose a lease is. */
const leaseOf = ({ need }: LeaseClaim): LeaseAnswer => ({
  isApplied: true,
  isActive: true,
  isWaiting: false,
  generation: 1,
  amount: need,
  available: 0n,
  onOtherNodes: 0n,
  unanswered: 0n,
  reserved: 0n,
})

const wanted = (number: number): LeaseClaim => {
  const id = String(number)
  const request = { generation: 0, need: BigInt(number), wish: 0n, isReclaiming: true }
  return { leaseId: `lease ${id}`, accountId: `account ${id}`, ...request }
}

/** A database that answers at a command of the test. */
function createFixture(timeoutMs = 60_000, clock = new TestClock()) {
  const statements: { numbers: number[]; answer: (fails?: Error, busy?: number[]) => void }[] = []
  const alone: number[] = []
  const batches = new LeaseBatches({
    takeFree: (all) => {
      const { promise, resolve, reject } = Promise.withResolvers<Map<string, LeaseAnswer>>()
      const numbers = all.map(({ need }) => Number(need))
      const answer = (fails?: Error, busy: number[] = []) => {
        if (fails) return reject(fails)
        const free = all.filter(({ need }) => !busy.includes(Number(need)))
        resolve(new Map(free.map((one) => [one.leaseId, leaseOf(one)])))
      }
      statements.push({ numbers, answer })
      return promise
    },
    take: (one) => {
      alone.push(Number(one.need))
      return Promise.resolve(leaseOf(one))
    },
    isRefused: (thrown) => thrown === refused,
    watch: (statement) => withTimeout(statement, timeoutMs, { clock }),
    timeoutMs,
  })
  const take = (number: number) =>
    batches.take(wanted(number)).then((lease) => Number(lease?.amount))
  return { statements, alone, take }
}

const numbersUpTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Answers whatever is asked, until nothing is. */
async function answerAll(
  statements: ReturnType<typeof createFixture>['statements'],
): Promise<void> {
  for (let next = 0; next < statements.length; next++) {
    statements[next]?.answer()
    await settled()
  }
}

test('takes leases of 1,000 accounts in a handful of statements', async () => {
  const { statements, take } = createFixture()
  const taken = Promise.all(numbersUpTo(1000).map(take))
  await answerAll(statements)
  expect(await taken).toEqual(numbersUpTo(1000))
  expect(statements.length).toBeLessThanOrEqual(6)
  expect(statements.flatMap(({ numbers }) => numbers).toSorted((a, b) => a - b)).toEqual(
    numbersUpTo(1000),
  )
})

test('takes a locked account separately, without delaying others', async () => {
  const { statements, alone, take } = createFixture()
  const taken = Promise.all(numbersUpTo(4).map(take))
  statements[0]?.answer()
  await settled()
  statements[2]?.answer(undefined, [3])
  statements[1]?.answer()
  expect(await taken).toEqual([1, 2, 3, 4])
  expect(alone).toEqual([3])
})

test('takes each lease separately when one request is invalid', async () => {
  const { statements, alone, take } = createFixture()
  const taken = Promise.all(numbersUpTo(4).map(take))
  statements[0]?.answer()
  await settled()
  statements[2]?.answer(refused)
  statements[1]?.answer()
  expect(await taken).toEqual([1, 2, 3, 4])
  expect(alone).toEqual([3, 4])
})

test('rejects the whole batch on any other failure, as its outcome is unknown', async () => {
  const { statements, alone, take } = createFixture()
  const taken = numbersUpTo(4).map(take)
  statements[0]?.answer()
  await settled()
  statements[2]?.answer(new Error('the connection was lost'))
  statements[1]?.answer()
  const outcomes = (await Promise.allSettled(taken)).map(({ status }) => status)
  expect(outcomes).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
  expect(alone).toEqual([])
})

test('ignores an answer that arrives after its callers gave up', async () => {
  const unhandled: unknown[] = []
  const note = (cause: unknown) => void unhandled.push(cause)
  process.on('unhandledRejection', note)
  const clock = new TestClock()
  const { statements, alone, take } = createFixture(30, clock)
  const outcomes = await clock.run(Promise.allSettled([1, 2].map(take)))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  statements[0]?.answer(undefined, [1])
  statements[1]?.answer(refused)
  await settled()
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
  expect(alone).toEqual([])
})
