import { expect, test } from 'bun:test'
import { AttemptFailed } from '../upstream/attempt'
import type { Candidate } from './candidate'
import { sampleCandidate } from '../../testing/routing/candidate'
import { dispatch } from './dispatch'
import { Resilience } from './resilience'
import { maxSaved } from './retry-budget'
import { sampleConnection } from '../../testing/catalog/samples'
import { ApiError, invalidRequest } from '../errors'

const candidate = (id: string) => sampleCandidate({ connection: sampleConnection({ id }) })
const candidates = ['a', 'b', 'c'].map(candidate)

const failed = (message: string, mayTryNext: boolean) =>
  new AttemptFailed(new ApiError('connection_failed', { message }), mayTryNext)

const broke = (message: string) =>
  new ApiError('insufficient_credits', {
    message,
    details: { current_balance: 0, minimum_required: 1 },
  })

const newResilience = () =>
  new Resilience({ now: () => clock.ms, maxOpenMs: 30_000, onChange: () => undefined })
const clock = { ms: 0 }

interface Stage {
  among?: readonly Candidate[]
  /** Whose payers cannot pay. */
  unpaid?: Record<string, Error>
  resilience?: Resilience
}

/** Dispatches to candidates that fail as given, or answer; what was done, and what came of it. */
async function run(outcomes: Record<string, Error>, stage: Stage = {}) {
  const { among = candidates, unpaid = {}, resilience = newResilience() } = stage
  const tried: string[] = []
  const told: string[] = []
  const held = new Set<string>()
  const course = {
    candidates: among,
    accountId: 'user_1',
    resilience,
    open: ({ connection: { id } }: Candidate) => {
      // Never two at once.
      expect(held.size).toBe(0)
      const refusal = unpaid[id]
      if (refusal) throw refusal
      held.add(id)
      return id
    },
    close: (id: string) => void held.delete(id),
    begin: async (id: string) => void told.push(id),
    passOver: () => undefined,
    waits: () => undefined,
    isMinor: ({ message }: ApiError) => message.startsWith('minor'),
  }
  const attempt = async (id: string) => {
    // Who is told before has been told by now.
    expect(told).toEqual([...tried, id])
    tried.push(id)
    const outcome = outcomes[id]
    if (outcome) throw outcome
    return id
  }
  const result = await dispatch(course, { attempt }).catch((thrown: unknown) => thrown)
  return { tried, result, held: [...held] }
}

/** What fails until its breaker opens. */
async function opened(id: string, resilience = newResilience()): Promise<Resilience> {
  const down = failed('down', false)
  for (let k = 0; k < 5; k++) await run({ [id]: down }, { among: [candidate(id)], resilience })
  return resilience
}

async function openedAll(): Promise<Resilience> {
  const resilience = newResilience()
  for (const id of ['a', 'b', 'c']) await opened(id, resilience)
  return resilience
}

test('the first that answers is the only one asked', async () => {
  expect(await run({})).toEqual({ tried: ['a'], result: 'a', held: ['a'] })
})

test('the second answers where the first cannot have billed, and only it is held for', async () => {
  const answer = { tried: ['a', 'b'], result: 'b', held: ['b'] }
  expect(await run({ a: failed('refused', true) })).toEqual(answer)
})

test('what may have been billed is not asked of anybody else', async () => {
  const lost = failed('lost half-way', false)
  expect(await run({ a: lost })).toEqual({ tried: ['a'], result: lost.error, held: [] })
})

test('at most two are tried, and the last one’s error is the caller’s', async () => {
  const outcomes = { a: failed('first', true), b: failed('second', true), c: failed('third', true) }
  const { tried, result, held } = await run(outcomes)
  expect([tried, result, held]).toEqual([['a', 'b'], outcomes.b.error, []])
})

test('one candidate alone gives its own error', async () => {
  const refused = failed('refused', true)
  const { tried, result } = await run({ a: refused }, { among: candidates.slice(0, 1) })
  expect([tried, result]).toEqual([['a'], refused.error])
})

test('what is no failure of an attempt goes through: a client who left, a mistake of ours', async () => {
  const mistake = new TypeError('a mistake of ours')
  expect(await run({ a: mistake })).toEqual({ tried: ['a'], result: mistake, held: [] })
})

test('no candidate at all is an outage, not a crash', async () => {
  const { result } = await run({}, { among: [] })
  expect(result).toMatchObject({ code: 'gateway_unavailable', status: 503 })
})

test('who cannot pay is passed over, and is no attempt', async () => {
  const refused = failed('refused', true)
  const { tried, result } = await run({ b: refused }, { unpaid: { a: broke('a') } })
  expect([tried, result]).toEqual([['b', 'c'], 'c'])
})

test('where nobody can pay, the first refusal is the answer', async () => {
  const unpaid = { a: broke('a'), b: broke('b'), c: broke('c') }
  expect((await run({}, { unpaid })).result).toBe(unpaid.a)
})

test('an attempt that failed is told, not that the next could not be paid', async () => {
  const refused = failed('refused', true)
  const { tried, result } = await run({ a: refused }, { unpaid: { b: broke('b'), c: broke('c') } })
  expect([tried, result]).toEqual([['a'], refused.error])
})

test('a candidate that keeps failing is passed over', async () => {
  const resilience = await opened('a')
  expect(await run({}, { resilience })).toMatchObject({ tried: ['b'], result: 'b' })
})

test('S1: where all are failing one is tried all the same, the first to be tried again', async () => {
  const resilience = await opened('a')
  clock.ms += 1000
  await opened('b', resilience)
  await opened('c', resilience)
  const down = failed('down', true)
  expect(await run({ a: down }, { resilience })).toMatchObject({
    tried: ['a'],
    result: down.error,
    held: [],
  })
  expect(await run({}, { resilience })).toMatchObject({ tried: ['a'], result: 'a' })
  // Which works again.
  expect(await run({}, { resilience })).toMatchObject({ tried: ['a'], result: 'a' })
})

/** What three candidates that are down come to, tried as often as they may be. */
async function exhausted(): Promise<Resilience> {
  const resilience = await openedAll()
  const down = failed('down', true)
  for (let k = 0; k < 10; k++) await run({ a: down, b: down, c: down }, { resilience })
  return resilience
}

test('where all are failing, and were tried often, the answer says when to come again', async () => {
  const resilience = await exhausted()
  const { tried, result, held } = await run({}, { resilience })
  expect([tried, held]).toEqual([[], []])
  expect(result).toMatchObject({ code: 'gateway_unavailable', status: 503, retryAfterSeconds: 5 })
})

test('who cannot pay is told so, whether or not the provider works', async () => {
  const resilience = await exhausted()
  const unpaid = { a: broke('a'), b: broke('b'), c: broke('c') }
  expect((await run({}, { unpaid, resilience })).result).toBe(unpaid.a)
  delete (unpaid as Partial<typeof unpaid>).b
  expect((await run({}, { unpaid, resilience })).result).toMatchObject({ status: 503 })
  expect((await run({}, { unpaid, resilience: await openedAll() })).tried).toEqual(['b'])
})

test('without budget for a further attempt the first error is the answer', async () => {
  const resilience = newResilience()
  const [first = candidate('a')] = candidates
  for (let k = 0; k < maxSaved; k++) resilience.budget.spend(first, 'user_1')
  const refused = failed('refused', true)
  const { tried, result, held } = await run({ a: refused }, { resilience })
  expect([tried, result, held]).toEqual([['a'], refused.error, []])
})

const refused = invalidRequest('messages', 'bad_format', 'No.')
const late = new ApiError('request_timeout')

test.each([
  ['does not heal it', { before: refused, after: failed('down', false), isAdmitted: false }],
  ['does not fail it', { before: late, after: undefined, isAdmitted: true }],
])('what fails before a candidate is asked %s', async (_what, { before, after, isAdmitted }) => {
  const resilience = newResilience()
  const ask = (begin: Error | undefined, outcome: Error | undefined) =>
    dispatch(
      {
        candidates: candidates.slice(0, 1),
        accountId: 'user_1',
        resilience,
        open: (one: Candidate) => one,
        isMinor: () => false,
        close: () => undefined,
        passOver: () => undefined,
        waits: () => undefined,
        begin: () => (begin ? Promise.reject(begin) : Promise.resolve()),
      },
      { attempt: async () => (outcome ? Promise.reject(outcome) : 'answered') },
    ).catch(() => undefined)
  for (let time = 0; time < 5; time++) {
    await ask(before, undefined)
    if (after) await ask(undefined, after)
  }
  expect(resilience.admits(candidate('a'), candidates, 'user_1')).toBe(isAdmitted)
})

/** What comes of refusals, one of each candidate. */
const tellsOf = async (...messages: string[]) => {
  const entries = messages.map((message, at) => [['a', 'b', 'c'][at] ?? '', broke(message)])
  const { result } = await run({}, { unpaid: Object.fromEntries(entries) })
  return result instanceof Error ? result.message : undefined
}

test('4.8: of those who refuse, the first is told, but one that is minor only where all are', async () => {
  expect(await tellsOf('one', 'two', 'three')).toBe('one')
  expect(await tellsOf('minor', 'two', 'three')).toBe('two')
  expect(await tellsOf('one', 'minor', 'three')).toBe('one')
  expect(await tellsOf('minor one', 'minor two', 'minor three')).toBe('minor one')
})
