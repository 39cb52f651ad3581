import { beforeEach, describe, expect, test } from 'bun:test'
import { Claims, maxAnswerBytes, type Claim, type ClaimResult } from './claims'
import { nameOf, type ClaimStore, type ClaimedKey, type StoredAnswer, type Named } from './store'
import { ApiError } from '../errors'
import { ClientDisconnected } from '../wire/chunk-stream'
import { TestClock } from '../../testing/clock'

interface Row extends ClaimedKey {
  claimId: string
}

/** The database of all nodes of a test: leases end when it says so. */
class FakeStore implements ClaimStore {
  readonly rows = new Map<string, Row>()
  lookups = 0
  isAway = false

  #answer<Value>(work: () => Value): Promise<Value> {
    this.lookups++
    if (this.isAway) return Promise.reject(new Error('timeout'))
    return Promise.resolve().then(work)
  }

  readonly claim = (named: Named, claimId: string) =>
    this.#answer(() => {
      if (this.rows.has(nameOf(named))) return false
      this.rows.set(nameOf(named), { hash: named.hash, claimId, answer: undefined })
      return true
    })

  readonly find = (named: Named) => this.#answer(() => this.rows.get(nameOf(named)))

  readonly keep = (claimId: string, answer: StoredAnswer) =>
    this.#answer(() => {
      for (const row of this.rows.values()) if (row.claimId === claimId) row.answer = answer
    })

  readonly giveUp = (claimId: string) =>
    this.#answer(() => {
      for (const [name, row] of this.rows) if (row.claimId === claimId) this.rows.delete(name)
    })

  readonly renewed: string[] = []
  readonly renew = (ids: readonly string[]) => this.#answer(() => void this.renewed.push(...ids))
  readonly deleteExpired = () => Promise.resolve(0)
}

const named = (key: string, body = 'body'): Named => ({
  userId: 'user_1',
  key,
  hash: Buffer.from(body),
})

const answerOf = (text: string): StoredAnswer => ({
  requestId: 'req_1',
  status: 200,
  headers: {},
  body: new TextEncoder().encode(text),
})

const never = new AbortController().signal
const clock = new TestClock()
const patient = () => ({ endsAtMs: clock.monotonicMs() + 60_000, signal: never })

let store: FakeStore
let errors: unknown[]
let pauses: (() => void)[]
beforeEach(() => {
  store = new FakeStore()
  errors = []
  pauses = []
})

let serial = 0
const newNode = () =>
  new Claims({
    store,
    newClaimId: () => `claim_${++serial}`,
    // Ends when the test says so.
    pause: () => new Promise((resolve) => void pauses.push(resolve)),
    onError: (error) => errors.push(error),
    clock,
  })

function claimIn(taken: ClaimResult): Claim {
  if ('claim' in taken) return taken.claim
  throw new Error('an answer was there already')
}

/** All that was about to happen has happened. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('on one node', () => {
  test('M10: one of fifty wins the claim, the others receive its answer, with one query', async () => {
    const node = newNode()
    const all = Array.from({ length: 50 }, () => node.take(named('k'), patient()))
    const claim = claimIn(await Promise.race(all))
    expect(store.lookups).toBe(1)
    const answer = answerOf('once')
    await claim.keep(answer)
    const results = await Promise.all(all)
    expect(results.filter((one) => 'stored' in one && one.stored === answer)).toHaveLength(49)
    expect(await node.take(named('k'), patient())).toEqual({ stored: answer })
  })

  test('the first waiting request takes over when the first one gives up', async () => {
    const node = newNode()
    const first = claimIn(await node.take(named('k'), patient()))
    const others = [1, 2, 3].map(() => node.take(named('k'), patient()))
    await first.giveUp()
    const second = claimIn(await Promise.race(others))
    await settled()
    await second.keep(answerOf('second'))
    const results = await Promise.all(others)
    expect(results.filter((one) => 'stored' in one)).toHaveLength(2)
  })

  test('rejects another body, while the first runs and afterwards', async () => {
    const node = newNode()
    const claim = claimIn(await node.take(named('k'), patient()))
    const rejection = { code: 'invalid_request', details: { issue: 'key_reused' } }
    await expect(node.take(named('k', 'other'), patient())).rejects.toMatchObject(rejection)
    await claim.keep(answerOf('once'))
    await expect(node.take(named('k', 'other'), patient())).rejects.toMatchObject(rejection)
    expect(await node.take(named('k'), patient())).toMatchObject({ stored: { status: 200 } })
  })

  test('stops waiting on timeout, or when the client has disconnected', async () => {
    const node = newNode()
    await node.take(named('k'), patient())
    const state = { isOver: false }
    const late = node
      .take(named('k'), patient())
      .catch((thrown: unknown) => thrown)
      .finally(() => (state.isOver = true))
    await clock.advance(59_999)
    expect(state.isOver).toBe(false)
    await clock.advance(1)
    expect(await late).toMatchObject({ code: 'request_timeout' })
    const caller = new AbortController()
    const disconnected = node.take(named('k'), { ...patient(), signal: caller.signal })
    caller.abort()
    await expect(disconnected).rejects.toBeInstanceOf(ClientDisconnected)
  })

  test('too large an answer frees the key', async () => {
    const node = newNode()
    const claim = claimIn(await node.take(named('k'), patient()))
    await claim.keep({ ...answerOf(''), body: new Uint8Array(maxAnswerBytes + 1) })
    expect(store.rows.size).toBe(0)
    claimIn(await node.take(named('k'), patient()))
  })

  test('one largest answer is kept', async () => {
    const node = newNode()
    const claim = claimIn(await node.take(named('k'), patient()))
    await claim.keep({ ...answerOf(''), body: new Uint8Array(maxAnswerBytes) })
    expect('stored' in (await node.take(named('k'), patient()))).toBe(true)
  })
})

describe('on two nodes', () => {
  test('the second waits for the notification of the first', async () => {
    const [a, b] = [newNode(), newNode()]
    const claim = claimIn(await a.take(named('k'), patient()))
    const waiting = b.take(named('k'), patient())
    await settled()
    expect(pauses).toHaveLength(1)
    const answer = answerOf('of a')
    await claim.keep(answer)
    b.ended(nameOf(named('k')))
    expect(await waiting).toEqual({ stored: answer })
  })

  test('polls if the notification is lost, and after a gap', async () => {
    for (const wake of [() => pauses.at(-1)?.(), undefined]) {
      const [a, b] = [newNode(), newNode()]
      const one = named(`k${wake ? 1 : 2}`)
      const claim = claimIn(await a.take(one, patient()))
      const waiting = b.take(one, patient())
      await settled()
      await claim.keep(answerOf('of a'))
      if (wake) wake()
      else b.mayHaveEnded()
      expect('stored' in (await waiting)).toBe(true)
    }
  })

  test('it becomes the first when the lease of the other has ended', async () => {
    const [a, b] = [newNode(), newNode()]
    await a.take(named('k'), patient())
    const waiting = b.take(named('k'), patient())
    await settled()
    store.rows.clear()
    pauses.at(-1)?.()
    claimIn(await waiting)
  })

  test('waiting requests share one query a second', async () => {
    const [a, b] = [newNode(), newNode()]
    const claim = claimIn(await a.take(named('k'), patient()))
    const before = store.lookups
    const waiting = Array.from({ length: 50 }, () => b.take(named('k'), patient()))
    await settled()
    // Claim, and find.
    expect(store.lookups - before).toBe(2)
    await claim.keep(answerOf('of a'))
    b.ended(nameOf(named('k')))
    for (const taken of await Promise.all(waiting)) expect('stored' in taken).toBe(true)
  })
})

describe('without the database', () => {
  test('nothing begins', async () => {
    store.isAway = true
    const rejection = newNode().take(named('k'), patient())
    await expect(rejection).rejects.toBeInstanceOf(ApiError)
    await expect(rejection).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })

  test('an answer is held here until it is stored', async () => {
    const node = newNode()
    const claim = claimIn(await node.take(named('k'), patient()))
    store.isAway = true
    const answer = answerOf('held')
    await claim.keep(answer)
    expect(errors).toHaveLength(1)
    expect(await node.take(named('k'), patient())).toEqual({ stored: answer })
    await node.tick()
    expect(store.rows.get(nameOf(named('k')))?.answer).toBeUndefined()
    store.isAway = false
    await node.tick()
    expect(store.rows.get(nameOf(named('k')))?.answer).toBe(answer)
    await node.idle()
  })

  test('a key that cannot be freed is free here, and elsewhere when its lease ends', async () => {
    const node = newNode()
    const claim = claimIn(await node.take(named('k'), patient()))
    store.isAway = true
    await claim.giveUp()
    expect(errors).toHaveLength(1)
    store.isAway = false
    const next = node.take(named('k'), patient())
    await settled()
    store.rows.clear()
    pauses.at(-1)?.()
    claimIn(await next)
  })
})

test('only running claims of this node are renewed, and idle waits for them', async () => {
  const [a, b] = [newNode(), newNode()]
  const claim = claimIn(await a.take(named('k'), patient()))
  const id = store.rows.get(nameOf(named('k')))?.claimId ?? ''
  const waiting = b.take(named('k'), patient())
  await settled()
  await Promise.all([a.tick(), b.tick()])
  expect(store.renewed).toEqual([id])
  let isIdle = false
  const idle = a.idle().then(() => (isIdle = true))
  await settled()
  expect(isIdle).toBe(false)
  await claim.keep(answerOf('done'))
  await idle
  b.ended(nameOf(named('k')))
  await waiting
  await a.tick()
  expect(store.renewed).toHaveLength(1)
})
