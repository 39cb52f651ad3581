import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
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
import { sendRequest, messages } from '../../harness/http'
import { startGateway, type Customer, type Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'
import { recordTimeFigure } from '../../../server/testing/figures'

/** Documents of a server that the operator should not have trusted. */

let gateway: Gateway
let source: Source
let upstream: FakeProvider
let customer: Customer

beforeAll(async () => {
  source = startSource()
  upstream = await startFakeProvider()
  gateway = await startGateway({ environment: trustedEnvironment })
  await offerModels(gateway, upstream.url, ['fake/ok'])
  customer = await gateway.customer()
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})
beforeEach(() => {
  source.files.clear()
  source.requests.length = 0
})

const offer = (text: string, path = '/catalog.json') =>
  source.files.set(path, () => new Response(text))

const preview = (url = source.url) => askAdmin(gateway, 'POST /catalog/preview', { url })
const apply = (digest: string) =>
  askAdmin(gateway, 'POST /catalog/apply', { url: source.url, digest })

const chat = () => sendRequest(gateway, { key: customer.key, body: { model: 'fake/ok', messages } })

async function refused(): Promise<string> {
  const answer = await preview()
  expect(problem(answer)).toEqual([400, 'url', expect.any(String)])
  return String(answer.error?.message)
}

test('a redirect is not followed, to any target', async () => {
  const trap: string[] = []
  await using inside = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      trap.push(url)
      return new Response(documentOf(entry('fake/ok', { input: 0.001, output: 0.001 })))
    },
  })
  const targets = [
    `http://127.0.0.1:${inside.port}/`,
    'http://169.254.169.254/latest/meta-data/',
    'file:///etc/hostname',
    '/other.json',
  ]
  offer(documentOf(entry('fake/ok', { input: 0.001, output: 0.001 })), '/other.json')
  for (const location of targets) {
    for (const status of [301, 302, 307, 308]) {
      const moved = () => new Response(null, { status, headers: { location } })
      source.files.set('/catalog.json', moved)
      expect(await refused()).toContain(`status ${status}`)
    }
  }
  expect(trap).toEqual([])
  expect(new Set(source.requests)).toEqual(new Set(['/catalog.json']))
})

test('nothing is taken from a server with a certificate of another name', async () => {
  await using other = startSource('127.0.0.1')
  other.files.set('/catalog.json', () => new Response(documentOf(entry('fake/ok', defaultPricing))))
  const answer = await preview(other.url)
  expect(problem(answer)).toEqual([400, 'url', 'bad_format'])
  expect(other.requests).toEqual([])
})

const endless = () => {
  const part = new Uint8Array(65_536).fill(32)
  return new Response(new ReadableStream({ pull: (stream) => stream.enqueue(part) }))
}
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 32))

test.each<[string, () => Response]>([
  ['more than eight megabytes', () => new Response(' '.repeat(8 * 1024 * 1024 + 1))],
  ['a text without an end', endless],
  [
    'a compressed document that grows',
    () => new Response(bomb, { headers: { 'content-encoding': 'gzip' } }),
  ],
  ['a page', () => new Response('<!doctype html>')],
  ['lists in lists', () => new Response(`{"date":${'['.repeat(1_000_000)}`)],
  ['lists in lists, closed', () => new Response('['.repeat(1_000_000) + ']'.repeat(1_000_000))],
])('nothing is taken from %s', async (what, answer) => {
  source.files.set('/catalog.json', answer)
  await recordTimeFigure(`rejecting ${what}`, { atMost: 10_000 }, refused)
  expect((await chat()).status).toBe(200)
})

test.each<[string, string]>([
  ['zero characters in an id', documentOf(entry('fake/a\0b', defaultPricing))],
  ['zero characters in a name', documentOf(entry('fake/zero', defaultPricing, { name: 'a\0b' }))],
  ['lines in a name', documentOf(entry('fake/lines', defaultPricing, { name: 'a\nb' }))],
  ['half a character in an id', documentOf(entry('fake/\ud83d', defaultPricing))],
  [
    'half a character in a name',
    documentOf(entry('fake/half', defaultPricing, { name: '\ud83d' })),
  ],
  ['an id of many characters', documentOf(entry(`fake/${'x'.repeat(300)}`, defaultPricing))],
  [
    'a price without end',
    documentOf(entry('fake/x', defaultPricing)).replace('"input":1', '"input":1e999'),
  ],
  ['a field that is not known', documentOf(entry('fake/x', defaultPricing, { __proto__x: 1 }))],
  [
    '20,001 models',
    documentOf(...Array.from({ length: 20_001 }, (_, at) => entry(`fake/${at}`, defaultPricing))),
  ],
])('nothing is taken from a document with %s', async (_what, document) => {
  offer(document)
  const digest = new Bun.CryptoHasher('sha256').update(document).digest('hex')
  expect(problem(await apply(digest))).toEqual([400, 'url', expect.any(String)])
  await refused()
})

test('nothing is changed by an object that would change others', async () => {
  const document = documentOf(entry('fake/x', defaultPricing))
  offer(document.replace('"name"', '"__proto__":{"free":true},"name"'))
  const answer = await preview()
  expect(answer.status).toBeLessThan(500)
  const { status, headers } = await chat()
  expect([status, Number(headers.get('x-tollgate-cost')) > 0]).toEqual([200, true])
})
