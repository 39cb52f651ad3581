import { generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sendOperatorRequest as askAdmin, problem } from '../../harness/operator'
import {
  documentOf,
  entry,
  offerModels,
  defaultPricing,
  startSource,
  trustedEnvironment,
  type Source,
} from './catalog-source'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, messages, type Answer } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

/** Prices from an https address, applied on one of two nodes. */

let nodes: TwoNodes
let source: Source
let upstream: FakeProvider
let customer: Customer

const held = 'fake/held-first'

beforeAll(async () => {
  source = startSource()
  upstream = await startFakeProvider()
  nodes = await startTwoNodes({ environment: trustedEnvironment })
  await offerModels(nodes.a, upstream.url, ['fake/ok', held])
  customer = await nodes.a.customer()
  // The last of the models: node B has heard of all.
  const listed = { method: 'GET', path: `/v1/models/${held}`, key: customer.key }
  await eventually(async () => (await sendRequest(nodes.b, listed)).status === 200)
})
afterAll(async () => {
  nodes.a.recorder.verify()
  nodes.b.recorder.verify()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})
beforeEach(() => {
  source.files.clear()
  source.requests.length = 0
})

const offer = (text: string | Uint8Array<ArrayBuffer>, path = '/catalog.json', headers = {}) =>
  source.files.set(path, () => new Response(text, { headers }))

const preview = (on: Gateway, body: object = { url: source.url }) =>
  askAdmin(on, 'POST /catalog/preview', body)
const apply = (on: Gateway, digest: unknown, more: object = {}) =>
  askAdmin(on, 'POST /catalog/apply', { url: source.url, digest, ...more })

const chat = (on: Gateway, model: string) =>
  sendRequest(on, { key: customer.key, body: { model, messages } })

/** What an answer cost, USD, beside what it would at these prices a million tokens. */
function costOf({ status, text, headers, body }: Answer, { input, output }: typeof defaultPricing) {
  if (status !== 200) throw new Error(text)
  const usage = Object(body['usage'])
  const due = (input * usage.prompt_tokens + output * usage.completion_tokens) / 1e6
  return [Number(headers.get('x-tollgate-cost')), due]
}

/** Waits until something holds on the other node, and records how long that took: a second by the documentation. */
async function untilThere(what: string, isSo: () => Promise<boolean>): Promise<void> {
  recordFigure(`${what} on the other node`, await eventually(isSo), { unit: 'ms', atMost: 1000 })
}

async function priceOn(on: Gateway, id: string) {
  const { status, body } = await askAdmin(on, `GET /models/${id}`)
  return status === 200 ? body['pricing'] : undefined
}

test('applied on one node it is in force there at once, and on the other soon', async () => {
  const { a, b } = nodes
  offer(documentOf(entry('fake/ok', { input: 3, output: 5 }), entry('fake/ok-new', defaultPricing)))
  const shown = await preview(a)
  expect([shown.status, shown.body]).toEqual([
    200,
    expect.objectContaining({
      is_signed: false,
      added: [{ id: 'fake/ok-new', pricing: expect.objectContaining(defaultPricing) }],
      repriced: [
        {
          id: 'fake/ok',
          before: expect.objectContaining(defaultPricing),
          after: expect.objectContaining({ input: 3, output: 5 }),
        },
      ],
    }),
  ])
  for (const node of [a, b]) expect(await priceOn(node, 'fake/ok')).toMatchObject(defaultPricing)
  const applied = await apply(a, shown.body['digest'])
  expect([applied.status, applied.body]).toEqual([200, { added: 1, repriced: 1, planned: 0 }])
  const [here, due] = costOf(await chat(a, 'fake/ok'), { input: 3, output: 5 })
  expect(here).toBeCloseTo(due ?? NaN, 9)
  const [onNew, dueOfNew] = costOf(await chat(a, 'fake/ok-new'), defaultPricing)
  expect(onNew).toBeCloseTo(dueOfNew ?? NaN, 9)
  await untilThere('new prices', async () => {
    const [there, dueThere] = costOf(await chat(b, 'fake/ok'), { input: 3, output: 5 })
    const { status } = await chat(b, 'fake/ok-new')
    return Math.abs(Number(there) - Number(dueThere)) < 1e-10 && status === 200
  })
  // The other way round there is nothing left to show.
  expect((await preview(b)).body).toMatchObject({ added: [], repriced: [] })
})

test('a request that runs on the other node keeps the price that it began with', async () => {
  const { a, b } = nodes
  offer(documentOf(entry(held, { input: 300, output: 500 })))
  const { body } = await preview(b)
  upstream.reset()
  const running = chat(b, held)
  await eventually(() => upstream.heldCount() === 1)
  // Shown by one node, applied by the other.
  expect((await apply(a, body['digest'])).body).toMatchObject({ repriced: 1 })
  await untilThere('a raised price', async () => Object(await priceOn(b, held)).input === 300)
  upstream.release()
  const [cost, due] = costOf(await running, defaultPricing)
  expect(cost).toBeCloseTo(due ?? NaN, 9)
  const later = chat(b, held)
  await upstream.releaseHeld()
  const [next, dueNext] = costOf(await later, { input: 300, output: 500 })
  expect(next).toBeCloseTo(dueNext ?? NaN, 9)
})

test('a document that changes after it was shown is not applied', async () => {
  const { a } = nodes
  offer(documentOf(entry('fake/ok', { input: 6, output: 6 })))
  const { body } = await preview(a)
  const before = await priceOn(a, 'fake/ok')
  offer(documentOf(entry('fake/ok', { input: 0.001, output: 0.001 })))
  expect(problem(await apply(a, body['digest']))).toEqual([400, 'digest', 'conflict'])
  source.files.clear()
  expect(problem(await apply(a, body['digest']))).toEqual([400, 'url', 'bad_format'])
  expect(await priceOn(a, 'fake/ok')).toEqual(before)
})

describe('with a public key set', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const signatureOf = (text: string) => sign(null, Buffer.from(text), privateKey).toString('base64')
  const document = documentOf(entry('fake/ok', { input: 7, output: 8 }))

  beforeAll(async () => {
    const fields = { catalog_public_key: raw.toString('base64') }
    expect((await askAdmin(nodes.a, 'PUT /config', fields)).status).toBe(200)
    await untilThere(
      'a public key',
      async () => (await preview(nodes.b, { document })).status === 400,
    )
  })
  afterAll(async () => {
    await askAdmin(nodes.a, 'PUT /config', { catalog_public_key: null })
  })

  test('every node wants the signature beside the document', async () => {
    const { a, b } = nodes
    offer(document)
    expect(problem(await preview(b))).toEqual([400, 'url', 'bad_format'])
    offer(signatureOf(`${document} `), '/catalog.json.sig')
    expect(problem(await preview(b))).toEqual([400, 'url', 'bad_signature'])
    offer(signatureOf(document), '/catalog.json.sig')
    const shown = await preview(b)
    expect([shown.status, shown.body['is_signed']]).toEqual([200, true])
    offer(documentOf(entry('fake/ok', { input: 70, output: 80 })))
    expect(problem(await apply(b, shown.body['digest']))).toEqual([400, 'url', 'bad_signature'])
    offer(document)
    expect((await apply(a, shown.body['digest'])).body).toMatchObject({ repriced: 1 })
    await eventually(async () => Object(await priceOn(b, 'fake/ok')).input === 7)
  })
})
