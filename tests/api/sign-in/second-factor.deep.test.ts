import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { Browser, password, signUp } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  gateway = await startGateway()
  sql = await openDatabase(gateway.dataDir)
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function bytesOf(text: string): Buffer {
  const bits = Array.from(text, (one) => base32.indexOf(one).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Six digits for a moment. Source: RFC 6238. */
function codeOf(secret: string, atMs = Date.now()): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)))
  const hash = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 15) & 0x7f_ff_ff_ff
  return String(number % 1_000_000).padStart(6, '0')
}

const connections = 'GET /api/connections'

test('a second factor is asked for after the password; a backup code stands in, once', async () => {
  const email = 'two@example.com'
  const browser = await signUp(gateway, sql, email)
  const { body } = await browser.send('POST /api/auth/two-factor/enable', { password })
  const secret = new URL(String(body['totpURI'])).searchParams.get('secret') ?? ''
  const confirmed = await browser.send('POST /api/auth/two-factor/verify-totp', {
    code: codeOf(secret),
  })
  expect(confirmed.status).toBe(200)

  const other = new Browser(gateway)
  const entered = await other.send('POST /api/auth/sign-in/email', { email, password })
  expect(entered.body).toMatchObject({ twoFactorRedirect: true })
  expect((await other.send(connections)).status).toBe(401)
  const wrong = await other.send('POST /api/auth/two-factor/verify-totp', { code: '000000' })
  expect(wrong.status).toBe(401)
  const code = codeOf(secret)
  expect((await other.send('POST /api/auth/two-factor/verify-totp', { code })).status).toBe(200)
  expect((await other.send(connections)).status).toBe(200)

  const [backup] = Array.isArray(body['backupCodes']) ? body['backupCodes'] : []
  await sql`delete from auth_rate_limit`
  const statuses: number[] = []
  for (let count = 0; count < 2; count++) {
    const third = new Browser(gateway)
    await third.send('POST /api/auth/sign-in/email', { email, password })
    const path = 'POST /api/auth/two-factor/verify-backup-code'
    statuses.push((await third.send(path, { code: backup })).status)
  }
  expect(statuses).toEqual([200, 401])
  // A reader of the database gets neither.
  const [row] = await sql`select secret, backup_codes from auth_two_factor`
  expect(JSON.stringify(row)).not.toContain(secret)
  expect(JSON.stringify(row)).not.toContain(String(backup))
})
