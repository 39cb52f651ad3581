import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pngOf } from '../../harness/upstreams/drawings'
import { accountOf, startBilling, type Billing } from '../../harness/ledger'
import {
  parsed,
  sendRequest,
  type Failure,
  type FormFields,
  type Json,
  type RequestOptions,
} from '../../harness/http'
import { openRaw, rawRequest } from '../../harness/raw-client'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'
import { wav } from '../../../server/testing/sound-files'

const credit = 10_000_000_000n
const mebibyte = 1 << 20
const sound = new File([wav(1)], 'talk.wav', { type: 'audio/wav' })
const png = new File([Buffer.from(pngOf(64, 64), 'base64')], 'a.png', { type: 'image/png' })

interface FormDoor {
  path: string
  model: string
  /** The field of its file, and the issue of two of them. */
  field: string
  twice: string
  file: File
  other: File
  /** Beside the file. */
  fields: FormFields
}

const ofSound = { model: 'fake/ears', field: 'file', twice: 'too_many', file: sound, other: png }
const ofImage = { model: 'fake/hands', field: 'image', file: png, other: sound }
const imageDoors: FormDoor[] = [
  { ...ofImage, path: '/v1/images/edits', twice: 'duplicate', fields: { prompt: 'At dusk' } },
  { ...ofImage, path: '/v1/images/variations', twice: 'too_many', fields: {} },
]
const doors: FormDoor[] = [
  { ...ofSound, path: '/v1/audio/transcriptions', fields: {} },
  { ...ofSound, path: '/v1/audio/translations', fields: {} },
  ...imageDoors,
]

let billing: Billing
let customer: Customer

beforeAll(async () => {
  billing = await startBilling()
  customer = await billing.customer(credit)
  const { model } = billing.rig
  const pricing = { input: 0, output: 0 }
  const perHour = { ...pricing, audio_hour: 0.36 }
  const perImage = { ...pricing, made_image: 0.04 }
  const perCharacter = { ...pricing, input_characters: 15 }
  const upstream_model = 'ok'
  await model('ears', { category: 'transcription', pricing: perHour, upstream_model })
  await model('hands', { category: 'image', pricing: perImage, upstream_model })
  await model('voice', { category: 'speech', pricing: perCharacter, upstream_model })
  for (const category of ['rerank', 'moderation'])
    await model(category, { category, pricing: { input: 1, output: 0 }, upstream_model })
})
afterAll(() => billing[Symbol.asyncDispose]())

const uploads = () => readdir(join(billing.rig.gateway.dataDir, 'uploads'))

interface Refused {
  param: string | null
  issue: string
}

/** Checks an error: its field, its reason, a sentence for the caller; nothing is sent, charged or left on disk. */
async function expectRefused(
  send: () => Promise<{ status: number; error: Failure }>,
  { param, issue }: Refused,
): Promise<void> {
  const before = billing.rig.upstream.requestCount()
  const { status, error } = await send()
  expect({ status, code: error.code, param: error.param, issue: error.details?.['issue'] }).toEqual(
    { status: 400, code: 'invalid_request', param, issue },
  )
  expect(error.message).toMatch(/^[\w[{<].{15,}\.$/)
  expect(billing.rig.upstream.requestCount()).toBe(before)
  expect(await accountOf(billing.sql, customer)).toMatchObject({ posted: credit })
  const [{ events }] = await billing.sql`
    select count(*)::int as events from usage_event where key_id = ${customer.keyId} and cost > 0`
  expect(events).toBe(0)
  await eventually(async () => (await uploads()).length === 0)
}

const ask = (options: RequestOptions) =>
  sendRequest(billing.rig.gateway, { key: customer.key, ...options })

/** Sends bytes as they are, and reads the answer. */
async function sendBytes(path: string, headers: Record<string, string>, body: string | Buffer) {
  using client = await openRaw(billing.rig.gateway.url)
  const authorization = `Bearer ${customer.key}`
  await client.send(rawRequest({ path, headers: { authorization, ...headers } }))
  if (body.length > 0) await client.send(body)
  const { status, body: answer } = await client.response()
  const { error } = parsed(answer.toString())
  return { status, error: typeof error === 'object' && error !== null ? error : {} }
}

/** A form whose parts are written by hand: each is its headers and its content. */
const sendParts = (path: string, parts: readonly (readonly [string, string])[]) => {
  const body = parts.map(([head, content]) => `--b\r\n${head}\r\n\r\n${content}\r\n`).join('')
  const whole = Buffer.from(`${body}--b--\r\n`)
  const headers = {
    'content-type': 'multipart/form-data; boundary=b',
    'content-length': String(whole.length),
  }
  return sendBytes(path, headers, whole)
}

const textPart = (name: string, content: string) =>
  [`content-disposition: form-data; name="${name}"`, content] as const

describe.each(doors)('a wrong form at $path is rejected with the field and the reason', (door) => {
  const { path, model, field, file, fields } = door
  const post = (more: FormFields) => ask({ path, form: { model, ...fields, ...more } })
  const fileHead = (filename: string) =>
    `content-disposition: form-data; name="${field}"; ${filename}\r\ncontent-type: ${file.type}`

  test.each<[string, FormFields, string | null, string]>([
    ['no file', {}, field, 'required'],
    ['an empty file', { [field]: new File([], file.name, { type: file.type }) }, field, 'empty'],
    ['two files', { [field]: [file, file] }, field, door.twice],
    ['a text in place of a file', { [field]: 'text' }, field, 'wrong_type'],
    ['a file of another kind', { [field]: door.other }, field, 'wrong_type'],
    ['a file in another field', { [field]: file, more: file }, 'more', 'not_allowed'],
    ['a name with a path', { [field]: new File(['x'], '../../etc/a.png') }, field, 'bad_format'],
    ['a name of Windows', { [field]: new File(['x'], String.raw`C:\a.png`) }, field, 'bad_format'],
    [
      'an unknown format',
      { [field]: file, response_format: 'docx' },
      'response_format',
      'unknown_value',
    ],
    ['no model', { [field]: file, model: null }, 'model', 'required'],
    ['a prompt of 2 MB', { [field]: file, prompt: 'x'.repeat(2 * mebibyte) }, 'prompt', 'too_long'],
  ])('%s', (...[, more, param, issue]) => expectRefused(() => post(more), { param, issue }))

  test('thousands of parts', () => {
    const parts = Array.from({ length: 5000 }, (_, index) => textPart(`f${index}`, 'x'))
    return expectRefused(() => sendParts(path, parts), { param: null, issue: 'too_many' })
  })

  test('a file behind a megabyte of headers', () => {
    const head = `x-long: ${'x'.repeat(mebibyte)}\r\n${fileHead('filename="a.png"')}`
    const parts = [textPart('model', model), textPart('prompt', 'At dusk'), [head, 'x']] as const
    return expectRefused(() => sendParts(path, parts), { param: field, issue: 'required' })
  })

  test('a file behind thousands of headers', () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `x-${index}: y\r\n`).join('')
    const head = `${lines}${fileHead('filename="a.png"')}`
    const parts = [textPart('model', model), textPart('prompt', 'At dusk'), [head, 'x']] as const
    return expectRefused(() => sendParts(path, parts), { param: field, issue: 'required' })
  })

  test.each([`filename="../a.png"`, `filename*=UTF-8''..%2F..%2Fa.png`, `filename="a.png/.."`])(
    'a path in %s',
    (filename) =>
      expectRefused(() => sendParts(path, [[fileHead(filename), 'x']]), {
        param: field,
        issue: 'bad_format',
      }),
  )

  test('600 MB by its content-length, unread', () => {
    const headers = {
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': String(600 * mebibyte),
    }
    const param = field === 'file' ? field : null
    return expectRefused(() => sendBytes(path, headers, ''), { param, issue: 'body_too_large' })
  })

  test.each([
    ['plain text', 'text/plain', 'x'],
    ['fields of a page', 'application/x-www-form-urlencoded', 'model=a'],
    ['a form without a boundary', 'multipart/form-data', 'x'],
  ])('%s', (_what, type, body) =>
    expectRefused(() => ask({ path, body, headers: { 'content-type': type } }), {
      param: null,
      issue: 'wrong_content_type',
    }),
  )
})

test.each(imageDoors)('a wrong size at $path', ({ path, model, field, file, fields }) => {
  const form = { model, ...fields, [field]: file, size: '0x0' }
  return expectRefused(() => ask({ path, form }), { param: 'size', issue: 'bad_format' })
})

test.each(doors)('$path: 600 MB in chunks without an end are cut at its maximum', async (door) => {
  const { path, field } = door
  const { gateway } = billing.rig
  await expectRefused(
    async () => {
      using client = await openRaw(gateway.url)
      const headers = {
        authorization: `Bearer ${customer.key}`,
        'content-type': 'multipart/form-data; boundary=b',
        'transfer-encoding': 'chunked',
      }
      await client.send(rawRequest({ path, headers }))
      const head = `--b\r\ncontent-disposition: form-data; name="${field}"; filename="a"\r\n\r\n`
      await client.send(`${head.length.toString(16)}\r\n${head}\r\n`)
      const piece = `${mebibyte.toString(16)}\r\n${'x'.repeat(mebibyte)}\r\n`
      const state = { isOver: false }
      const over = client
        .until((received) => received.includes('}}'))
        .then(() => {
          state.isOver = true
        })
      for (let count = 0; count < 600 && !state.isOver; count += 1)
        await Promise.race([client.send(piece), over])
      const { status, body } = await client.response()
      const { error } = parsed(body.toString())
      return { status, error: typeof error === 'object' && error !== null ? error : {} }
    },
    { param: field, issue: 'body_too_large' },
  )
})

const spoken = { model: 'fake/voice', input: 'Hello', voice: 'alloy' }
const drawn = { model: 'fake/hands', prompt: 'A lighthouse' }
const ranked = { model: 'fake/rerank', query: 'one', documents: ['two'] }
const judged = { model: 'fake/moderation', input: 'one' }

test.each<[string, string, Json, string, string]>([
  ['no text', '/v1/audio/speech', { ...spoken, input: '' }, 'input', 'too_short'],
  [
    'an unknown format',
    '/v1/audio/speech',
    { ...spoken, response_format: 'midi' },
    'response_format',
    'unknown_value',
  ],
  ['a wrong speed', '/v1/audio/speech', { ...spoken, speed: 5 }, 'speed', 'out_of_range'],
  ['no image', '/v1/images/generations', { ...drawn, n: 0 }, 'n', 'out_of_range'],
  ['a wrong size', '/v1/images/generations', { ...drawn, size: '0x0' }, 'size', 'bad_format'],
  ['a number as prompt', '/v1/images/generations', { ...drawn, prompt: 1 }, 'prompt', 'wrong_type'],
  ['no documents', '/v1/rerank', { ...ranked, documents: [] }, 'documents', 'empty'],
  ['half a result', '/v1/rerank', { ...ranked, top_n: 1.5 }, 'top_n', 'wrong_type'],
  ['an object as input', '/v1/moderations', { ...judged, input: {} }, 'input', 'wrong_type'],
])('%s at %s is rejected with the field and the reason', (...[, path, body, param, issue]) =>
  expectRefused(() => ask({ path, body }), { param, issue }),
)
