import { expect, test } from 'bun:test'
import { BodyBudget } from './body-budget'
import type { BodyShare } from './body-share'
import { ApiError } from '../errors'

const mebibyte = 1 << 20

/** A budget of 64 MB, and a clock that a test sets. */
function createFixture(limits: { maxWaitingOfOwner?: number; collect?: () => void } = {}) {
  const clock = { ms: 0 }
  const budget = new BodyBudget({ bytes: 64 * mebibyte, now: () => clock.ms, ...limits })
  return { clock, budget }
}

/** What became of a share that was asked for more. */
function takeFrom(share: BodyShare, mebibytes: number) {
  const state: { is: 'waiting' | 'in' | ApiError } = { is: 'in' }
  const waiting = share.take(mebibytes * mebibyte)
  if (!waiting) return state
  state.is = 'waiting'
  waiting.then(
    () => (state.is = 'in'),
    (thrown: unknown) =>
      (state.is = thrown instanceof ApiError ? thrown : new ApiError('internal_error')),
  )
  return state
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('H05: reads at most the budget at a time, and the next body after one was sent on', async () => {
  using budget = createFixture().budget
  const shares = Array.from({ length: 4 }, (_, index) => budget.open(`account ${index}`))
  const states = shares.map((share) => takeFrom(share, 32))
  expect(states.map(({ is }) => is)).toEqual(['in', 'in', 'waiting', 'waiting'])
  expect(budget.bytes).toBe(64 * mebibyte)
  shares[0]?.release()
  shares[0]?.release()
  await turn()
  expect(states.map(({ is }) => is)).toEqual(['in', 'in', 'in', 'waiting'])
  for (const share of shares) share.release()
  await turn()
  expect(states[3]?.is).toBe('in')
  shares[3]?.release()
  expect(budget.bytes).toBe(0)
})

test('one account uses half of the budget at most, and does not delay others', async () => {
  using budget = createFixture().budget
  const own = Array.from({ length: 8 }, () => budget.open('one'))
  const states = own.map((share) => takeFrom(share, 16))
  expect(states.filter(({ is }) => is === 'in')).toHaveLength(2)
  expect(takeFrom(budget.open('other'), 32).is).toBe('in')
})

test('a small body does not overtake a large one in the queue', () => {
  using budget = createFixture().budget
  takeFrom(budget.open('a'), 32)
  takeFrom(budget.open('b'), 20)
  expect(takeFrom(budget.open('c'), 32).is).toBe('waiting')
  expect(takeFrom(budget.open('d'), 8).is).toBe('waiting')
})

test('bodies that grow side by side do not deadlock', async () => {
  using budget = createFixture().budget
  const ended: number[] = []
  let max = 0
  const grow = async (index: number) => {
    const share = budget.open(`account ${index}`)
    for (const mebibytes of [2, 2, 4, 8, 16]) {
      await share.take(mebibytes * mebibyte)
      max = Math.max(max, budget.bytes)
      await turn()
    }
    share.release()
    ended.push(index)
  }
  await Promise.all(Array.from({ length: 16 }, (_, index) => grow(index)))
  expect(ended).toHaveLength(16)
  // One goes beyond, by what one body may have.
  expect(max / mebibyte).toBeWithin(64, 97)
})

test('rejects a request that waits too long, with Retry-After', async () => {
  const { budget, clock } = createFixture()
  const holder = budget.open('a')
  takeFrom(holder, 60)
  // It was read, and is on its way.
  await holder.whileReading(Promise.resolve())
  const state = takeFrom(budget.open('b'), 32)
  clock.ms = 9000
  budget.check()
  await turn()
  expect(state.is).toBe('waiting')
  holder.dueMs = Infinity
  clock.ms = 25_000
  budget.check()
  await turn()
  expect(state.is).toMatchObject({ code: 'gateway_unavailable', status: 503, retryAfterSeconds: 3 })
  expect(budget.rejections).toBe(1)
})

test('cuts slow senders off only once other requests wait', async () => {
  const { budget, clock } = createFixture()
  const slow = ['a', 'b'].map((owner) => budget.open(owner))
  const readings = slow.map((share) => {
    takeFrom(share, 32)
    return share
      .whileReading(new Promise<never>(() => undefined))
      .catch((thrown: unknown) => thrown)
  })
  clock.ms = 60_000
  budget.check()
  expect(budget.bytes).toBe(64 * mebibyte)
  const state = takeFrom(budget.open('c'), 32)
  budget.check()
  await turn()
  expect(state.is).toBe('in')
  const refusal = { code: 'gateway_unavailable', closes: true, retryAfterSeconds: 5 }
  expect(await Promise.all(readings)).toMatchObject([refusal, refusal])
})

test('releases the budget of a body that its provider does not read', async () => {
  const { budget, clock } = createFixture()
  const stuck = budget.open('a')
  takeFrom(stuck, 64)
  await stuck.whileReading(Promise.resolve())
  const state = takeFrom(budget.open('b'), 32)
  clock.ms = 10_001
  budget.check()
  await turn()
  expect(state.is).toBe('in')
})

test('an account that has enough waiting is rejected at once, others are not', async () => {
  using budget = createFixture({ maxWaitingOfOwner: 2 }).budget
  const states = Array.from({ length: 4 }, () => takeFrom(budget.open('one'), 32))
  const other = takeFrom(budget.open('other'), 32)
  await turn()
  expect(states.slice(0, 3).map(({ is }) => is)).toEqual(['in', 'waiting', 'waiting'])
  expect(states[3]?.is).toMatchObject({ code: 'gateway_unavailable' })
  expect(other.is).toBe('in')
})

test('serves owners in turns: one request of an owner does not wait for all requests of another', async () => {
  using budget = createFixture().budget
  const holders = ['x', 'y'].map((owner) => budget.open(owner))
  for (const holder of holders) takeFrom(holder, 32)
  const order: string[] = []
  const send = (owner: string, index: number) => {
    const share = budget.open(owner)
    void share.take(32 * mebibyte)?.then(() => {
      order.push(`${owner} ${index}`)
      setImmediate(() => share.release())
    })
  }
  for (let index = 1; index <= 4; index++) send('busy', index)
  for (const owner of ['b', 'c']) send(owner, 1)
  for (const holder of holders) holder.release()
  while (order.length < 6) await turn()
  // Two have room at a time.
  expect(order.slice(0, 3).toSorted()).toEqual(['b 1', 'busy 1', 'c 1'])
  expect(order.slice(3)).toEqual(['busy 2', 'busy 3', 'busy 4'])
})

test('H05: collects garbage of bodies before reading others, only while requests wait', async () => {
  let collected = 0
  using budget = createFixture({ collect: () => (collected += 1) }).budget
  const shares = Array.from({ length: 3 }, (_, index) => budget.open(`account ${index}`))
  for (const share of shares) {
    takeFrom(share, 32)
    share.readBytes = 32 * mebibyte
  }
  shares[0]?.release()
  expect(collected).toBe(0)
  await turn()
  expect(collected).toBe(1)
  for (const share of shares) share.release()
  await turn()
  expect(collected).toBe(1)
})

test('H05: clients that open large bodies and disconnect do not make the event loop collect garbage', async () => {
  let collected = 0
  using budget = createFixture({ collect: () => (collected += 1) }).budget
  const shares = Array.from({ length: 6 }, (_, index) => budget.open(`account ${index}`))
  for (const share of shares) takeFrom(share, 32)
  for (const share of shares) share.readBytes = 2000
  for (const share of shares) share.release()
  await turn()
  expect(collected).toBe(0)
})
