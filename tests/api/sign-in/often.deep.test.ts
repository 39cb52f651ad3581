import { expect, test } from 'bun:test'
import { signUp } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { startGateway } from '../../harness/server'

test('allows the session checks of many users behind one address', async () => {
  await using gateway = await startGateway()
  await using sql = await openDatabase(gateway.dataDir)
  const browser = await signUp(gateway, sql, 'ada@example.com')
  const statuses = new Set<number>()
  for (let page = 0; page < 130; page++) {
    statuses.add((await browser.send('GET /api/auth/get-session')).status)
  }
  expect([...statuses]).toEqual([200])
})
