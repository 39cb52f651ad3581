import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sendRequest, messages, type Json } from '../../harness/http'
import { startRig, type Rig } from '../../harness/server'
import { runCommand } from '../../harness/run-command'
import { eventually } from '../../../server/testing/eventually'

let rig: Rig
let key: string

beforeAll(async () => {
  rig = await startRig()
  key = (await readFile(join(rig.gateway.dataDir, 'first-key'), 'utf8')).trim()
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

/** Some 300,000 tokens, as a coding agent sends with each turn: three minutes of the plan `free`. */
const longPrompt = 'const value = await read(file)\n'.repeat(40_000)
const pricing = { input: 10, output: 100 }
const model = () =>
  rig.model('ok', { context_length: 1_000_000, max_output_tokens: 32_000, pricing })

const chat = async (text: string, asKey = key) =>
  sendRequest(rig.gateway, {
    key: asKey,
    body: { model: await model(), messages: [{ role: 'user', content: text }] },
  })

async function owner(): Promise<Record<string, unknown>> {
  const { users } = await rig.gateway.admin('GET', '/users?is_operator=true')
  const [first] = Array.isArray(users) ? users : []
  return first
}

/** Logs are written a moment after the answer. */
async function logOf(requestId: string): Promise<Json> {
  let found: Json = {}
  await eventually(async () => {
    const { status, body } = await sendRequest(rig.gateway, {
      method: 'GET',
      path: `/api/account/request-logs/${requestId}`,
      key,
    })
    found = body
    return status === 200
  })
  return found
}

test('N1: the first key of a fresh start is served a long prompt, again and again', async () => {
  const { balance } = await owner()
  for (let nth = 0; nth < 3; nth += 1) {
    const { status, error } = await chat(longPrompt)
    expect([status, error?.code]).toEqual([200, undefined])
  }
  expect((await owner())['balance']).toBe(balance)
})

test('N1: more than 10 requests at once and 60 a minute are served', async () => {
  const all = await Promise.all(Array.from({ length: 70 }, () => chat('Hello!')))
  expect(all.filter(({ status }) => status !== 200)).toEqual([])
})

test('N1: a request that costs more than the first credit is served, and shows its cost', async () => {
  const id = await rig.model('chunks-150', {
    context_length: 1_000_000,
    pricing: { input: 1, output: 1_000_000 },
  })
  const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: id, messages: [{ role: 'user', content: 'Hello!' }] }),
  })
  const { usage } = JSON.parse(await response.text())
  expect(response.status).toBe(200)
  const cost = (usage.prompt_tokens * 1 + usage.completion_tokens * 1_000_000) / 1_000_000
  expect(Number(response.headers.get('x-tollgate-cost'))).toBeCloseTo(cost, 9)
  expect(cost).toBeGreaterThan(100)
  const requestId = response.headers.get('x-request-id')
  const log = await logOf(String(requestId))
  expect([log['cost'], log['billing_mode'], log['platform_fee']]).toEqual([cost, 'house', 0])
  expect((await owner())['balance']).toBe(100)
})

test('N1: the spending limit of one of its keys still applies', async () => {
  const { id } = await owner()
  const none = await rig.gateway.admin('POST', `/users/${String(id)}/keys`, {
    name: 'nothing',
    monthly_spend_limit: 0,
  })
  const refused = await chat('Hello!', String(none['key']))
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  const limit = 0.5
  const little = await rig.gateway.admin('POST', `/users/${String(id)}/keys`, {
    name: 'little',
    monthly_spend_limit: limit,
  })
  const costly = await rig.model('chunks-200', { pricing: { input: 0.001, output: 1000 } })
  const answers = []
  for (let nth = 0; nth < 4; nth += 1) {
    const body = { model: costly, messages }
    answers.push(await sendRequest(rig.gateway, { key: String(little['key']), body }))
  }
  const spent = answers.reduce((sum, one) => sum + Number(one.headers.get('x-tollgate-cost')), 0)
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 402, 402])
  expect(spent).toBeWithin(0.39, limit)
})

test('N1: the limits of the plan free hold for the accounts of others', async () => {
  const { plans } = await rig.gateway.admin('GET', '/plans?search=free')
  const [free] = Array.isArray(plans) ? plans : []
  const other = await rig.gateway.customer({}, { plan_id: free.id })
  const { status, error } = await chat(longPrompt, other.key)
  expect([status, error.code]).toEqual([429, 'tokens_per_minute_exceeded'])
})

test('N1: the ledger is in order after it', async () => {
  const { code, out } = await runCommand('audit', { DATA_DIR: rig.gateway.dataDir })
  expect(out).toContain('0 USD written off')
  expect(code).toBe(0)
})
