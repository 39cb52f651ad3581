import { afterAll, beforeAll, expect, test } from 'bun:test'
import { reportAttack } from './report'
import { countMinutes } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

const perMinute = 20
const tries = 60

let rig: Rig
let victim: Customer
let model: string
beforeAll(async () => {
  rig = await startRig({
    environment: {
      FAILED_AUTHENTICATIONS_PER_MINUTE: String(perMinute),
      // Lets guesses and the victim have different client addresses.
      TRUSTED_PROXIES: '127.0.0.0/8,::1',
    },
  })
  victim = await rig.gateway.customer()
  model = await rig.model('ok')
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())

interface Sending {
  key: string
  /** The client's address. */
  from: string
  body?: object
}

const send = (path: string, { key, from, body }: Sending) =>
  fetch(`${rig.gateway.url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-forwarded-for': from,
    },
    ...(body && { body: JSON.stringify(body) }),
  })

const isServed = async () => {
  const messages = [{ role: 'user', content: 'Hello.' }]
  const answer = await send('/v1/chat/completions', {
    key: victim.key,
    from: '203.0.113.9',
    body: { model, messages },
  })
  await answer.text()
  return answer.status === 200
}

/** Keys of the right shape: their last six characters are a checksum that a guess may match. */
const guess = (at: number) => `${victim.key.slice(0, -10)}${String(at).padStart(10, '0')}`

test.each([
  // Each has its own address: 198.51.100.<number>.
  ['the operator key', 66, '/api/admin/users', (at: number) => `operator-guess-${at}-0123456789`],
  ['service keys', 67, '/v1/models', guess],
  ['service keys at /api', 68, '/api/account/keys', guess],
] as const)(
  'S9: guesses of %s are limited by address, and the victim is served',
  async (...guessing) => {
    const [what, address, path, keyOf] = guessing
    const statuses: number[] = []
    let served = 0
    const minutes = await countMinutes(rig.gateway, async () => {
      for (let at = 0; at < tries; at++) {
        const answer = await send(path, { key: keyOf(at), from: `198.51.100.${address}` })
        await answer.text()
        statuses.push(answer.status)
        if (at % 10 === 0 && (await isServed())) served += 1
      }
    })
    const judged = statuses.filter((status) => status !== 429).length
    const isHeld = judged <= minutes * perMinute && served === tries / 10
    reportAttack({
      attack: `Guessing ${what}`,
      cost: `${tries} requests from one address`,
      effect: `${judged} guesses were judged, of ${perMinute} a minute, in ${minutes}; another account: ${served} of ${tries / 10} served`,
      isHeld,
    })
    expect(served).toBe(tries / 10)
    expect(judged).toBeLessThanOrEqual(minutes * perMinute)
    expect(statuses).not.toContain(200)
  },
  60_000,
)
