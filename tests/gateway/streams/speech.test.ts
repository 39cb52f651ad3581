import { afterAll, beforeAll, expect, test } from 'bun:test'
import { memoryGrowth } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'
import { recordFigure } from '../../../server/testing/figures'

const fields = { category: 'speech', pricing: { input: 0, output: 0, input_characters: 15 } }
const megabyte = 1024 * 1024
const maxGrowthMb = 70

let rig: Rig
let customer: Customer

beforeAll(async () => {
  // The memory of a process that ran other gateways has room that hides growth.
  rig = await startRig({ process: 'own' })
  customer = await rig.gateway.customer()
})
afterAll(() => rig[Symbol.asyncDispose]())

const speak = async (name: string, more: object = {}, signal?: AbortSignal) =>
  fetch(`${rig.gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: await rig.model(name, fields), input: 'Long', ...more }),
    ...(signal && { signal }),
  })

async function countBytes({ body }: Response): Promise<number> {
  let count = 0
  for await (const piece of body ?? []) count += piece.byteLength
  return count
}

test('an answer of 100 MB is relayed whole', async () => {
  // What the collector leaves to itself of a first answer is no part of the next.
  await countBytes(await speak('speech-long-100'))
  let received = 0
  const growth = await memoryGrowth(rig.gateway.pid, async () => {
    received = await countBytes(await speak('speech-long-100'))
  })
  expect(received).toBe(100 * megabyte)
  recordFigure('memory for an answer of 100 MB of speech', growth, {
    unit: 'MB',
    atMost: maxGrowthMb,
  })
})

test('it is made into events whole', async () => {
  let received = 0
  const growth = await memoryGrowth(rig.gateway.pid, async () => {
    received = await countBytes(await speak('speech-long-100', { stream_format: 'sse' }))
  })
  expect(received).toBeGreaterThan((100 * megabyte * 4) / 3)
  recordFigure('memory for 100 MB of speech as events', growth, { unit: 'MB', atMost: maxGrowthMb })
})

/** The pieces that the provider has sent, once they have not grown for so many looks. */
async function countSent(): Promise<number> {
  const quietLooks = 20
  let count = 0
  let unchanged = 0
  await eventually(() => {
    const sent = rig.upstream.requests().at(-1)?.chunksSent ?? 0
    unchanged = sent > 0 && sent === count ? unchanged + 1 : 0
    count = sent
    return unchanged >= quietLooks
  })
  return count
}

test('reads from the provider as the client does, and nothing once that has disconnected', async () => {
  const stopping = new AbortController()
  const response = await speak('speech-long-200', {}, stopping.signal)
  await response.body?.getReader().read()
  // The rest stays with the provider: two connections buffer a part, which Linux lets grow to 32 MB each.
  expect((await countSent()) * 64 * 1024).toBeLessThan(100 * megabyte)
  stopping.abort()
  await eventually(() => rig.upstream.openSockets() === 0)
})
