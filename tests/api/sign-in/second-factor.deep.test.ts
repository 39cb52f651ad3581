import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { Browser, linksFor, password, signUp } from '../../harness/browser-session'
import { enableFactor } from '../../harness/authenticator-app'
import { openDatabase } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'
import { codeOf } from '../../../server/testing/auth/authenticator-app'

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

const connections = 'GET /api/connections'

test('a second factor is required after the password; a backup code stands in, once', async () => {
  const email = 'two@example.com'
  const browser = await signUp(gateway, sql, email)
  const { secret, backupCodes } = await enableFactor(browser)

  const other = new Browser(gateway)
  const entered = await other.send('POST /api/auth/sign-in/email', { email, password })
  expect(entered.body).toMatchObject({ twoFactorRedirect: true })
  expect((await other.send(connections)).status).toBe(401)
  const wrong = await other.send('POST /api/auth/two-factor/verify-totp', { code: '000000' })
  expect(wrong.status).toBe(401)
  const code = codeOf(secret)
  expect((await other.send('POST /api/auth/two-factor/verify-totp', { code })).status).toBe(200)
  expect((await other.send(connections)).status).toBe(200)

  const [backup] = backupCodes
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

test('a password reset ends trusted devices: the next sign-in requires the factor', async () => {
  const email = 'trusting@example.com'
  const { secret } = await enableFactor(await signUp(gateway, sql, email))
  const trusted = new Browser(gateway)
  const signIn = (by: string) =>
    trusted.send('POST /api/auth/sign-in/email', { email, password: by })
  await signIn(password)
  const verify = { code: codeOf(secret), trustDevice: true }
  expect((await trusted.send('POST /api/auth/two-factor/verify-totp', verify)).status).toBe(200)
  expect((await signIn(password)).body['twoFactorRedirect']).toBeUndefined()

  await sql`delete from auth_rate_limit`
  const resetRequest = { email, redirectTo: '/reset-password' }
  await new Browser(gateway).send('POST /api/auth/request-password-reset', resetRequest)
  const [reset = ''] = await linksFor(sql, email)
  const token = new URL(reset).pathname.split('/').at(-1)
  const newPassword = 'another long enough password'
  const chosen = { token, newPassword }
  expect((await trusted.send('POST /api/auth/reset-password', chosen)).status).toBe(200)
  expect((await trusted.send(connections)).status).toBe(401)
  expect((await signIn(newPassword)).body).toMatchObject({ twoFactorRedirect: true })
  expect((await trusted.send(connections)).status).toBe(401)
})
