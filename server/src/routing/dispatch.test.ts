import { expect, test } from 'bun:test'
import { AttemptFailed } from './attempt'
import type { Candidate } from './candidate'
import { dispatch } from './dispatch'
import { sampleConnection, sampleModel, sampleProvider } from '../catalog/samples'
import { ApiError } from '../errors'

const candidate = (id: string): Candidate => ({
  model: sampleModel(),
  billing: { mode: 'platform', payer: 'user_1', organizationId: null },
  isPooled: false,
  provider: sampleProvider(),
  connection: sampleConnection({ id }),
})
const candidates = ['a', 'b', 'c'].map(candidate)

const failed = (message: string, mayTryNext: boolean) =>
  new AttemptFailed(new ApiError('connection_failed', { message }), mayTryNext)

/** Dispatches to candidates that fail as given, or answer; what they were asked, what came of it. */
async function run(outcomes: Record<string, Error>, among = candidates) {
  const tried: string[] = []
  const told: string[] = []
  const attempt = async ({ connection }: Candidate) => {
    // Who is told before has been told by now.
    expect(told).toEqual([...tried, connection.id])
    tried.push(connection.id)
    const outcome = outcomes[connection.id]
    if (outcome) throw outcome
    return connection.id
  }
  const before = async ({ connection }: Candidate) => void told.push(connection.id)
  const result = await dispatch(among, attempt, before).catch((thrown: unknown) => thrown)
  return { tried, result }
}

test('the first that answers is the only one asked', async () => {
  expect(await run({})).toEqual({ tried: ['a'], result: 'a' })
})

test('the second answers where the first cannot have billed', async () => {
  expect(await run({ a: failed('refused', true) })).toEqual({ tried: ['a', 'b'], result: 'b' })
})

test('what may have been billed is not asked of anybody else', async () => {
  const lost = failed('lost half-way', false)
  expect(await run({ a: lost })).toEqual({ tried: ['a'], result: lost.error })
})

test('at most two are tried, and the last one’s error is the caller’s', async () => {
  const outcomes = { a: failed('first', true), b: failed('second', true), c: failed('third', true) }
  expect(await run(outcomes)).toEqual({ tried: ['a', 'b'], result: outcomes.b.error })
})

test('one candidate alone gives its own error', async () => {
  const refused = failed('refused', true)
  const { tried, result } = await run({ a: refused }, candidates.slice(0, 1))
  expect([tried, result]).toEqual([['a'], refused.error])
})

test('what is no failure of an attempt goes through: a client who left, a mistake of ours', async () => {
  const mistake = new TypeError('a mistake of ours')
  expect(await run({ a: mistake })).toEqual({ tried: ['a'], result: mistake })
})

test('no candidate at all is an outage, not a crash', async () => {
  const { result } = await run({}, [])
  expect(result).toMatchObject({ code: 'gateway_unavailable', status: 503 })
})
