import { expect, test } from 'bun:test'
import { signedUp } from './browser'
import { openDatabase } from '../database'
import { startGateway } from '../rig'

test('who is signed in may be asked as often as the pages of people at one address do', async () => {
  await using gateway = await startGateway()
  await using sql = await openDatabase(gateway.dataDir)
  const browser = await signedUp(gateway, sql, 'ada@example.com')
  const statuses = new Set<number>()
  for (let page = 0; page < 130; page++) {
    statuses.add((await browser.ask('GET /api/auth/get-session')).status)
  }
  expect([...statuses]).toEqual([200])
})
