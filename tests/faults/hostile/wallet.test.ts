import { afterAll, beforeAll, expect, test } from 'bun:test'
import { awaitBalance } from './attacks'
import { reportAttack } from './report'
import { eventually } from '../../../server/testing/eventually'
import { countMinutes, sendRaw } from '../../harness/http'
import { startRig, type Rig } from '../../harness/server'

const words = 4000
const limit = 20_000
const tries = 30

let rig: Rig
beforeAll(async () => {
  rig = await startRig()
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())

/** Disconnects once the provider has the prompt, or the request is rejected; returns the answer read so far. */
async function leaveEarly(key: string, body: Record<string, unknown>) {
  const before = rig.upstream.requests().length
  using client = await sendRaw(rig.gateway, { key, body })
  const statusOf = () => /^HTTP\/1\.1 (\d+)/.exec(client.read().toString('latin1'))?.[1]
  const isDispatched = () => rig.upstream.requests().length > before
  await eventually(() => isDispatched() || statusOf() !== undefined)
  return isDispatched() ? 'dispatched' : statusOf()
}

test.each([
  ['streams', true],
  ['plain requests', false],
] as const)(
  'finding M10: %s abandoned before an answer are neither free nor unlimited',
  async (what, stream) => {
    const model = await rig.model('slow-event-3000')
    const { userId, key } = await rig.gateway.customer(
      {},
      { credit: 10, limits: { tokens_per_minute: limit } },
    )
    const content = 'one '.repeat(words)
    const body = { model, stream, max_tokens: 16, messages: [{ role: 'user', content }] }
    const outcomes: (string | undefined)[] = []
    const minutes = await countMinutes(rig.gateway, async () => {
      for (let count = 0; count < tries; count++) outcomes.push(await leaveEarly(key, body))
    })

    const dispatched = outcomes.filter((one) => one === 'dispatched').length
    // The prompt has at least one token a word, at 1 USD for 1,000,000.
    const owed = (dispatched * words) / 1e6
    const charged = 10 - (await awaitBalance(rig.gateway, userId, 10 - owed))
    const isLimited = dispatched * words <= minutes * limit
    reportAttack({
      attack: `Denial of wallet: ${what} that are left before an answer`,
      cost: `${tries} requests; charged ${charged.toFixed(4)} USD`,
      effect:
        `the house pays for ${Math.max(0, owed - charged).toFixed(4)} USD of prompts; ` +
        `${dispatched * words} prompt tokens reached the provider, of ${limit} a minute`,
      isHeld: charged >= owed && isLimited,
    })
    expect(dispatched).toBeGreaterThan(0)
    expect(charged).toBeGreaterThanOrEqual(owed)
    expect({ isLimited, dispatched }).toEqual({ isLimited: true, dispatched })
    expect(outcomes).toContain('429')
  },
  60_000,
)
