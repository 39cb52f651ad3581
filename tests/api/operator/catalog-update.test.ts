import { generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { startRig, type Gateway, type Rig } from '../../harness/server'

let rig: Rig
let gateway: Gateway

beforeAll(async () => {
  rig = await startRig()
  gateway = rig.gateway
})
afterAll(async () => {
  gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const entry = (id: string, price: object, more: object = {}) => ({
  id,
  name: id,
  category: 'chat',
  input: ['text'],
  output: ['text'],
  capabilities: ['tools'],
  created: 1_790_000_000,
  price,
  ...more,
})
const documentOf = (...models: object[]) => JSON.stringify({ date: '2026-11-23', models })

const preview = (body: object) => sendOperatorRequest(gateway, 'POST /catalog/preview', body)
const apply = (body: object) => sendOperatorRequest(gateway, 'POST /catalog/apply', body)

async function pricingOf(id: string) {
  const { status, body } = await sendOperatorRequest(gateway, `GET /models/${id}`)
  return status === 200 ? body['pricing'] : undefined
}

test('the catalogue that comes along changes nothing', async () => {
  const document = await Bun.file(
    new URL('../../../server/src/catalog/models.json', import.meta.url),
  ).text()
  const { status, body } = await preview({ document })
  expect(status).toBe(200)
  expect(body).toMatchObject({ added: [], repriced: [], planned: [], kept: [], missing: 0 })
})

describe('a document with a new model and another price', () => {
  const document = documentOf(
    entry('openai/gpt-4o', {
      input: 2,
      output: 8,
      tiers: [{ above: 100_000, input: 4, output: 16 }],
    }),
    entry(
      'openai/gpt-99',
      { input: 1, output: 2 },
      {
        price_changes: [{ from: '2099-01-01', price: { input: 3, output: 4 } }],
      },
    ),
    entry('openai/o3', { input: 2, output: 8, cached_input: 0.5 }),
    entry('no-such-provider/x', { input: 1, output: 1 }),
    entry('openai/gpt-5', {
      input: 1,
      output: 2,
      hours: [{ from: 0, until: 60, days: [1], input: 2 }],
    }),
  )

  test('is shown before anything changes', async () => {
    const { status, body } = await preview({ document })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      date: '2026-11-23',
      is_signed: false,
      added: [{ id: 'openai/gpt-99', pricing: { input: 1, output: 2 } }],
      planned: [{ id: 'openai/gpt-99', effective_at: '2099-01-01T00:00:00.000Z' }],
      // A price by the day of the week cannot be stored.
      kept: ['openai/gpt-5'],
    })
    expect(body['repriced']).toContainEqual({
      id: 'openai/gpt-4o',
      before: expect.objectContaining({ input: 2.5, output: 10 }),
      after: expect.objectContaining({ input: 2, output: 8 }),
    })
    expect(Number(body['missing'])).toBeGreaterThan(30)
    expect(await pricingOf('openai/gpt-4o')).toMatchObject({ input: 2.5, output: 10 })
    expect(await pricingOf('openai/gpt-99')).toBeUndefined()
  })

  test('is applied only as it was shown', async () => {
    const { body } = await preview({ document })
    const refused = await apply({ document: `${document} `, digest: body['digest'] })
    expect(problem(refused)).toEqual([400, 'digest', 'conflict'])
    expect(await pricingOf('openai/gpt-99')).toBeUndefined()
  })

  test('is applied in part, then whole; then the preview is empty', async () => {
    const { body: shown } = await preview({ document })
    const { digest } = shown
    const part = await apply({ document, digest, only: ['openai/gpt-99'] })
    expect([part.status, part.body]).toEqual([200, { added: 1, repriced: 0, planned: 1 }])
    expect(await pricingOf('openai/gpt-99')).toMatchObject({ input: 1, output: 2 })
    expect(await pricingOf('openai/gpt-4o')).toMatchObject({ input: 2.5 })
    const whole = await apply({ document, digest })
    expect([whole.status, whole.body['added']]).toEqual([200, 0])
    expect(await pricingOf('openai/gpt-4o')).toMatchObject({
      input: 2,
      output: 8,
      tiers: [{ above: 100_000, input: 4, output: 16 }],
    })
    const after = await preview({ document })
    expect(after.body).toMatchObject({ added: [], repriced: [] })
    const history = await sendOperatorRequest(gateway, 'GET /models/openai/gpt-99/prices')
    expect(history.body['prices']).toMatchObject([
      { effective_at: '2099-01-01T00:00:00.000Z', pricing: { input: 3, output: 4 } },
      { pricing: { input: 1, output: 2 } },
    ])
  })
})

test('a price that is announced for a model whose price stays is planned', async () => {
  const id = 'openai/gpt-4.1-mini'
  const { models } = await Bun.file(
    new URL('../../../server/src/catalog/models.json', import.meta.url),
  ).json()
  const known = models.find((model: { id: string }) => model.id === id)
  const from = '2099-03-01'
  const changes = [{ from, price: { input: 9, output: 18 } }]
  const document = documentOf({ ...known, price_changes: changes })
  const { body: shown } = await preview({ document })
  const planned = [
    {
      id,
      effective_at: `${from}T00:00:00.000Z`,
      pricing: expect.objectContaining({ input: 9, output: 18 }),
    },
  ]
  expect(shown).toMatchObject({ added: [], repriced: [], planned })
  const applied = await apply({ document, digest: shown['digest'] })
  expect([applied.status, applied.body]).toEqual([200, { added: 0, repriced: 0, planned: 1 }])
  const history = await sendOperatorRequest(gateway, `GET /models/${id}/prices`)
  expect(history.body['prices']).toMatchObject([{ effective_at: `${from}T00:00:00.000Z` }])
  // It is known now, unless it changes.
  expect((await preview({ document })).body).toMatchObject({ repriced: [], planned: [] })
  const other = documentOf({ ...known, price_changes: [{ from, price: { input: 8, output: 18 } }] })
  const { body: changed } = await preview({ document: other })
  expect(changed).toMatchObject({ planned: [{ id }] })
  await apply({ document: other, digest: changed['digest'] })
  const after = await sendOperatorRequest(gateway, `GET /models/${id}/prices`)
  expect(after.body['prices']).toMatchObject([{ pricing: { input: 8 } }])
})

describe('with a public key set', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const document = documentOf(entry('openai/gpt-4o', { input: 7, output: 8 }))
  const signatureOf = (text: string) => sign(null, Buffer.from(text), privateKey).toString('base64')

  beforeAll(async () => {
    const set = await sendOperatorRequest(gateway, 'PUT /config', {
      catalog_public_key: raw.toString('base64'),
    })
    expect([set.status, set.error]).toEqual([200, undefined])
  })
  afterAll(async () => {
    await sendOperatorRequest(gateway, 'PUT /config', { catalog_public_key: null })
  })

  test('a document is signed by it, or rejected', async () => {
    expect(problem(await preview({ document }))).toEqual([400, 'signature', 'required'])
    const other = signatureOf(`${document} `)
    expect(problem(await preview({ document, signature: other }))).toEqual([
      400,
      'signature',
      'bad_signature',
    ])
    const good = await preview({ document, signature: signatureOf(document) })
    expect([good.status, good.body['is_signed']]).toEqual([200, true])
  })

  /** The document of a day, with a price of its own. */
  const datedDocument = (date: string, input: number) => {
    const models = [entry('openai/gpt-4o', { input, output: 8 })]
    const text = JSON.stringify({ date, models })
    return { document: text, signature: signatureOf(text) }
  }

  test('finding S28: a document older than the last applied one is rejected, even with a valid signature', async () => {
    const old = datedDocument('2025-01-01', 1)
    const { digest: ofOld } = (await preview(old)).body
    for (const [date, input] of [
      ['2026-11-26', 5],
      // Two of a day have no order.
      ['2026-11-26', 6],
    ] as const) {
      const newer = datedDocument(date, input)
      const { digest } = (await preview(newer)).body
      expect((await apply({ ...newer, digest })).status).toBe(200)
    }
    for (const answer of [await preview(old), await apply({ ...old, digest: ofOld })]) {
      expect(problem(answer)).toEqual([400, 'document', 'conflict'])
      expect(answer.error?.message).toContain('2026-11-26')
    }
    expect(await pricingOf('openai/gpt-4o')).toMatchObject({ input: 6 })
    const future = await preview(datedDocument('2199-01-01', 1))
    expect(problem(future)).toEqual([400, 'document', 'conflict'])
  })
})

describe('is rejected', () => {
  afterEach(async () => {
    expect(await pricingOf('openai/gpt-4.1')).toMatchObject({ input: 2, output: 8 })
  })

  test.each<[string, object, [string, string]]>([
    ['nothing', {}, ['document', 'required']],
    ['both', { url: 'https://x.example/', document: '{}' }, ['document', 'required']],
    ['another scheme', { url: 'http://x.example/' }, ['url', 'bad_format']],
    ['no JSON', { document: '{' }, ['document', 'invalid_json']],
    ['no catalogue', { document: '{"date":"2026-11-23"}' }, ['document', 'bad_format']],
    [
      'a price below zero',
      { document: documentOf(entry('openai/gpt-4.1', { input: -1, output: 1 })) },
      ['document', 'bad_format'],
    ],
    [
      'a price of no size',
      { document: documentOf(entry('openai/gpt-4.1', { input: 1e9, output: 1 })) },
      ['document', 'bad_format'],
    ],
  ])('%s', async (_what, body, wrong) => {
    expect(problem(await preview(body))).toEqual([400, ...wrong])
  })

  test('an incomplete price is missing', async () => {
    const document = documentOf(entry('openai/gpt-4.1', { input: 1, output: 0 }))
    expect((await preview({ document })).body).toMatchObject({ repriced: [], added: [] })
  })
})
