import { expect, test } from 'bun:test'
import { signUp } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { startGateway } from '../../harness/server'

test('finding B19: an account that is signed in was active, without a key', async () => {
  await using gateway = await startGateway()
  await using sql = await openDatabase(gateway.dataDir)
  const begunMs = Date.now()
  await signUp(gateway, sql, 'ada@example.com')
  const { users } = await gateway.admin('GET', '/users?search=ada@example.com')
  const [{ last_active_at: lastActiveAt }] = Object(users)
  expect(Date.parse(lastActiveAt)).toBeWithin(begunMs - 5000, Date.now() + 5000)
})
