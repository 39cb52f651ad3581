import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { Browser, password, signUp } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  // So that a test can ask from many addresses.
  gateway = await startGateway({ environment: { TRUSTED_PROXIES: '127.0.0.0/8,::1' } })
  sql = await openDatabase(gateway.dataDir)
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await sql`delete from auth_rate_limit`
})

const from = (address: string) => ({ 'x-forwarded-for': `203.0.113.7, ${address}` })
const wrong = 'another long password'

/** The statuses of so many requests, each from an address of its own. */
async function fromEverywhere(count: number, request: string, body: Record<string, string>) {
  const statuses: number[] = []
  for (let index = 0; index < count; index++) {
    const headers = from(`198.51.100.${index}`)
    statuses.push((await new Browser(gateway).send(request, body, headers)).status)
  }
  return statuses
}

const ways = [
  ['POST /api/auth/sign-in/email', { email: 'a@example.com', password: wrong }],
  ['POST /api/auth/sign-in/magic-link', { email: 'a@example.com', callbackURL: '/' }],
  ['POST /api/auth/request-password-reset', { email: 'a@example.com', redirectTo: '/' }],
  ['POST /api/auth/two-factor/verify-totp', { code: '000000' }],
  ['POST /api/auth/two-factor/verify-backup-code', { code: 'aaaaa-bbbbb' }],
] as const

test.each(ways)('B07: %s is limited by address, which a client cannot choose', async (...way) => {
  const [request, body] = way
  const ask = async (headers: Record<string, string>) =>
    (await new Browser(gateway).send(request, body, headers)).status
  const statuses: number[] = []
  for (let count = 0; count < 7; count++) {
    // The first hand is what the client says, the second what the proxy saw.
    statuses.push(await ask({ 'x-forwarded-for': `203.0.113.${count}, 198.51.100.1` }))
  }
  expect(statuses[0]).not.toBe(429)
  expect(statuses.at(-1)).toBe(429)
  expect(await ask(from('198.51.100.2'))).not.toBe(429)
})

/** As if the accounts that were tried had been tried so often more: each try hashes for a while. */
const tried = (more: number) =>
  sql`update auth_rate_limit set count = count + ${more} where key like 'account:%'`

test('B07: passwords of one account are limited from all addresses together, whether it exists or not', async () => {
  const email = 'guessed@example.com'
  await signUp(gateway, sql, email)
  await sql`delete from auth_rate_limit`
  for (const name of [email, 'nobody@example.com']) {
    const body = { email: name, password: wrong }
    expect(await fromEverywhere(1, ways[0][0], body)).toEqual([401])
    await tried(28)
    expect(await fromEverywhere(3, ways[0][0], body)).toEqual([401, 429, 429])
    await sql`delete from auth_rate_limit where key not like 'account:%'`
  }
  // Not with another spelling either, and not with the right one.
  const right = { email: email.toUpperCase(), password }
  const refused = await new Browser(gateway).send(ways[0][0], right, from('198.51.100.99'))
  expect([refused.status, refused.body['code']]).toEqual([429, 'TOO_MANY_TRIES'])
})

test('J09: mails to one account are limited from all addresses together', async () => {
  const email = 'mailed@example.com'
  await signUp(gateway, sql, email)
  await sql`delete from auth_rate_limit`
  await sql`delete from mail where recipient = ${email}`
  const link = { email, callbackURL: '/' }
  const reset = { email, redirectTo: '/reset-password' }
  const links = await fromEverywhere(6, ways[1][0], link)
  const resets = await fromEverywhere(6, ways[2][0], reset)
  expect([...links, ...resets]).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429])
  const [mails] = await sql`select count(*)::int as count from mail where recipient = ${email}`
  expect(mails.count).toBeLessThanOrEqual(10)
})

test('J09: mails to an account that is signed up again are limited as well', async () => {
  const email = 'signed-up-again@example.com'
  await signUp(gateway, sql, email)
  await sql`delete from auth_rate_limit`
  await sql`delete from mail where recipient = ${email}`
  const again = { name: 'Ada', email, password: 'another long password' }
  const statuses = await fromEverywhere(12, 'POST /api/auth/sign-up/email', again)
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429])
  const [mails] = await sql`select count(*)::int as count from mail where recipient = ${email}`
  expect(mails.count).toBeLessThanOrEqual(10)
})

test('the wait ends', async () => {
  const body = { email: 'late@example.com', password: wrong }
  await fromEverywhere(1, ways[0][0], body)
  await tried(30)
  expect(await fromEverywhere(1, ways[0][0], body)).toEqual([429])
  await sql`update auth_rate_limit set last_request = last_request - 15 * 60 * 1000`
  expect(await fromEverywhere(1, ways[0][0], body)).toEqual([401])
})
