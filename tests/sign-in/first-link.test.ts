import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { Browser, linksFor, password } from './browser'
import { openDatabase } from '../database'
import { newDataDir, startGateway, type Gateway } from '../rig'

const printedBy = ({ output, url }: Gateway) =>
  /http\S+(\/api\/auth\/magic-link\/verify\S+)/.exec(output())?.[1]?.replace(/^/, url)

test('every start prints a link for the operator, wherever one was used before, until there is a password', async () => {
  const dataDir = await newDataDir()
  for (const start of ['first', 'second']) {
    await using gateway = await startGateway({ dataDir })
    const browser = new Browser(gateway)
    await browser.ask(`GET ${printedBy(gateway)}`)
    const { status, body } = await browser.ask('GET /api/account/settings')
    expect([start, status]).toEqual([start, 200])
    if (start === 'first') continue
    await using sql = await openDatabase(dataDir)
    const email = String(body['email'])
    const asked = { email, redirectTo: '/reset-password' }
    await browser.ask('POST /api/auth/request-password-reset', asked)
    const [link = ''] = await linksFor(sql, email)
    const { pathname } = new URL(link)
    const reset = { token: pathname.split('/').at(-1), newPassword: password }
    expect((await browser.ask('POST /api/auth/reset-password', reset)).status).toBe(200)
  }
  await using gateway = await startGateway({ dataDir })
  expect(printedBy(gateway)).toBeUndefined()
  await rm(dataDir, { recursive: true, force: true })
})
