import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startCollector, type Collector } from './collector'
import { internalUrl, scrapeWhenBooked } from '../../harness/scrape'
import { eventually } from '../../../server/testing/eventually'
import { dump, openDatabase } from '../../harness/database'
import { sendRequest, messages, request, type Json } from '../../harness/http'
import { deliver } from '../../api/payments/stripe-events'
import { startRig, upstreamSecret, type Rig } from '../../harness/server'
import { Browser, signUp } from '../../harness/browser-session'

const own = {
  admin: 'admin-canary/+6b1f0c9e',
  provider: 'provider-of-the-environment-canary-77aa10',
  stripe: 'sk_test_canary0123456789stripe',
  webhook: 'whsec_canary0123456789webhook',
  collector: 'collector-canary-0123456789',
}
const prompt = 'prompt canary: the ship sails at dawn / 4711+'
const answer = 'answer canary: aye aye, captain / 4712+'
/** What a provider says in an error is its caller's to know, and in his request logs. */
const repeated = 'repeated canary: a prompt within an error / 4713+'
/** A parser quotes the word at which JSON ends. */
const quoted = 'quotedCanary4714ByAParser'
const wrongPassword = 'wrong pass word/canary+ 0815'

let rig: Rig
let collector: Collector
/** What must be nowhere, by what it is. */
const canaries = new Map<string, string>(Object.entries(own))

beforeAll(async () => {
  collector = startCollector()
  rig = await startRig({
    environment: {
      ADMIN_KEY: own.admin,
      OPENAI_API_KEY: own.provider,
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
      STRIPE_SECRET_KEY: own.stripe,
      STRIPE_WEBHOOK_SECRET: own.webhook,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${own.collector}`,
      OTEL_BSP_SCHEDULE_DELAY: '20',
      METRICS_PORT: '0',
      LOG_LEVEL: 'trace',
      MINIMUM_BALANCE_USD: '0',
    },
  })
})
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})

/** The characters that stand for a text within the base64 of a longer one, by where it begins there. */
const withinBase64 = (text: string) =>
  [0, 1, 2].map((at) => btoa('x'.repeat(at) + text).slice(at === 0 ? 0 : at + 1, -4))

/** A text in all spellings in which it may go somewhere. */
const spellings = (text: string): string[] => [
  ...new Set([
    text,
    encodeURIComponent(text),
    text.replaceAll(' ', '+'),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('hex'),
    Buffer.from(text).toString('base64url'),
    ...withinBase64(text),
  ]),
]

const leaksIn = (text: string): string[] =>
  [...canaries].flatMap(([what, canary]) =>
    spellings(canary).some((spelling) => text.includes(spelling)) ? [what] : [],
  )

/** All that is in the data directory, but for the files that hold the secrets themselves and the database's. */
async function filesIn(dataDir: string): Promise<string> {
  const names = await readdir(dataDir, { withFileTypes: true })
  const secret = new Set(['admin-key', 'encryption-key', 'first-key'])
  const files = names.filter((entry) => entry.isFile() && !secret.has(entry.name))
  const texts = await Promise.all(files.map(({ name }) => readFile(join(dataDir, name), 'latin1')))
  return texts.join('\n')
}

const plain = () => ({ model: 'fake/echo', messages: [{ role: 'user', content: prompt }] })

/** Sends the key in every place where a client may put it. */
async function everyDoor(key: string): Promise<void> {
  const { gateway } = rig
  const spelled = encodeURIComponent(key)
  const requests: Parameters<typeof sendRequest>[1][] = [
    { headers: { 'x-api-key': key }, body: plain() },
    { headers: { authorization: `Basic ${btoa(`user:${key}`)}` }, body: plain() },
    { key: `${key}x`, body: plain() },
    { key, headers: { 'user-agent': `agent ${key}`, traceparent: key }, body: plain() },
    { key, body: { ...plain(), model: key } },
    { key, body: { ...plain(), model: `fake/${key}` } },
    { key, body: { ...plain(), user: key, metadata: { key, [key]: 'name' } } },
    { key, body: { ...plain(), temperature: key } },
    { key, body: `{"model": "${key}"` },
    { key, path: `/v1/chat/completions?api_key=${spelled}&prompt=${encodeURIComponent(prompt)}` },
    { key, path: `/v1/models/${spelled}`, method: 'GET' },
    { key, path: `/v1/${spelled}`, method: 'GET' },
    { key, path: `/api/account/settings?token=${spelled}`, method: 'GET' },
    { key, path: `/api/account/request-logs?search=${spelled}`, method: 'GET' },
    { key: own.admin, path: `/api/admin/users?search=${spelled}`, method: 'GET' },
    { key: own.admin, path: `/api/admin/users/${spelled}`, method: 'GET' },
    { key, path: '/v1/messages', body: { ...plain(), max_tokens: 16, system: prompt } },
    { key, path: '/v1/responses', body: { model: 'fake/echo', input: prompt, store: false } },
  ]
  for (const one of requests) await sendRequest(gateway, one)
}

/** A chunk, and then something that is none. */
const broken = (data: string) =>
  `data: ${JSON.stringify({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'x',
    choices: [{ index: 0, delta: { content: 'w1' }, finish_reason: null }],
  })}\n\ndata: ${data}\n\n`

/** Streams that break with what is the caller's fault, each told in another code, and in words that repeat. */
function breakingStreams(): string[] {
  const errors = {
    'breaks-field': { code: 400, param: 'messages', message: `messages: ${repeated}` },
    'breaks-length': { code: 400, message: `The maximum context length is 100: ${repeated}` },
    'breaks-cap': { code: 400, message: `max_tokens is too large: ${repeated}` },
  }
  for (const [name, error] of Object.entries(errors)) {
    rig.upstream.serve(name, broken(JSON.stringify({ error })))
  }
  rig.upstream.serve('breaks-unread', broken(`${quoted} ${repeated}`))
  return [...Object.keys(errors), 'breaks-unread']
}

/** Upstreams that repeat what they were sent. */
async function echoes(key: string): Promise<void> {
  const shown = { error: { message: `${upstreamSecret}: ${repeated}`, code: repeated, type: 'x' } }
  rig.upstream.serve('echo', {
    body: JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'echo',
      choices: [
        { index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
    }),
  })
  rig.upstream.serve('shouts', { status: 500, body: JSON.stringify(shown) })
  rig.upstream.serve('html', { status: 502, body: `<h1>${upstreamSecret} ${repeated}</h1>` })
  rig.upstream.serve('garbage', { status: 200, body: `${upstreamSecret} ${repeated}` })
  rig.upstream.serve('quoted', { status: 200, body: `{"choices": ${quoted}` })
  const modelNames = ['echo', 'shouts', 'html', 'garbage', 'quoted', 'canary-echo', 'err-after-2']
  for (const name of [...modelNames, ...breakingStreams()]) {
    const model = await rig.model(name)
    await sendRequest(rig.gateway, { key, body: { ...plain(), model } })
    await sendRequest(rig.gateway, { key, body: { ...plain(), model, stream: true } })
  }
}

/** Statements that fail, and say which value was at fault. */
async function databaseErrors(key: string): Promise<void> {
  await using sql = await openDatabase(rig.gateway.dataDir)
  await sql`alter table api_key alter column name type integer using 0`
  await sql`alter table request_log alter column user_agent type integer using 0`
  const headers = { 'user-agent': key }
  const body: Json = { name: wrongPassword, permissions: ['read'] }
  const refused = await sendRequest(rig.gateway, { key, path: '/api/account/keys', body })
  expect(refused.status).toBeGreaterThanOrEqual(400)
  await sendRequest(rig.gateway, {
    key,
    headers,
    body: { ...plain(), model: await rig.model('ok') },
  })
  // The database refuses the log, and with it the usage that it is booked with.
  await eventually(() => /"msg":"usage could not be booked yet"/.test(rig.gateway.output()))
  await sql`alter table api_key alter column name type text using ''`
  await sql`alter table request_log alter column user_agent type text using ''`
}

/** Waits until the log of a request is written, and with it those of the requests before it. */
async function logged(id: string): Promise<void> {
  await using sql = await openDatabase(rig.gateway.dataDir)
  await eventually(async () => (await sql`select 1 from request_log where id = ${id}`).length > 0)
}

async function signIns(): Promise<void> {
  await using sql = await openDatabase(rig.gateway.dataDir)
  const browser = await signUp(rig.gateway, sql, 'canary@example.com')
  const credentials = { email: 'canary@example.com', password: wrongPassword }
  await new Browser(rig.gateway).send('POST /api/auth/sign-in/email', credentials)
  await browser.send(`GET /api/account/settings?password=${encodeURIComponent(wrongPassword)}`)
  const [token = ''] = [...browser.cookies.values()]
  // What is before the dot is in the database, and opens nothing without what is behind it.
  canaries.set('session', decodeURIComponent(token).split('.').at(-1) ?? '')
  expect(canaries.get('session')?.length).toBeGreaterThan(20)
}

test('the search finds a canary in every spelling', () => {
  canaries.set('prompt', prompt)
  for (const spelled of [
    prompt,
    encodeURIComponent(prompt),
    `{"a":${JSON.stringify(prompt)}}`,
    btoa(`ab${prompt}cd`),
    btoa(`a${prompt}`),
    Buffer.from(prompt).toString('hex'),
  ]) {
    expect(leaksIn(`before ${spelled} after`)).toEqual(['prompt'])
  }
  expect(leaksIn('nothing')).toEqual([])
})

test('I15, K08: no secret and no prompt is in logs, files, tables, metrics and traces', async () => {
  const { gateway } = rig
  const { key } = await gateway.customer()
  canaries.set('key', key).set('upstream', upstreamSecret).set('answer', answer)
  canaries.set('password', wrongPassword).set('quoted', quoted)
  await Promise.all(['echo', 'ok'].map((name) => rig.model(name)))
  await echoes(key)
  await everyDoor(key)
  await signIns()
  await deliver(gateway.url, { id: 'evt_1', type: 'x' }, { secret: own.webhook })
  await deliver(gateway.url, { id: 'evt_2', note: own.webhook }, { signature: own.webhook })
  const platform = { model: 'openai/gpt-4o', messages }
  await (await request(gateway, { key, body: platform })).text()
  await databaseErrors(key)
  const url = await internalUrl(gateway)
  const last = await sendRequest(gateway, { key, body: plain() })
  await logged(last.headers.get('x-request-id') ?? '')
  const metrics = (await scrapeWhenBooked(url)).text
  const tables = await dump(gateway.dataDir)
  const files = await filesIn(gateway.dataDir)
  expect(await gateway.stop()).toBe(0)
  const found = { tables: leaksIn(tables), files: leaksIn(files) }
  canaries.set('repeated', repeated)
  expect(files).not.toBe('')
  // Else the streams that break would not have come to where they are told of.
  for (const code of ['invalid_request', 'context_length_exceeded', 'max_tokens_exceeded']) {
    expect(gateway.output()).toMatch(new RegExp(`"code":"${code}".*a stream failed`))
  }
  expect(collector.spans().length).toBeGreaterThan(30)
  expect({
    ...found,
    output: leaksIn(gateway.output()),
    metrics: leaksIn(metrics),
    traces: leaksIn(collector.text()),
  }).toEqual({ tables: [], files: [], output: [], metrics: [], traces: [] })
})
