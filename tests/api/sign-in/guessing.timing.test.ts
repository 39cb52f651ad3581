import { expect, test } from 'bun:test'
import { Browser, signUp } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { startGateway } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'

const tries = 7
const middle = (times: readonly number[]) => times.toSorted((a, b) => a - b)[tries >> 1] ?? 0

test('B07: the time of a wrong password does not reveal whether an address has an account', async () => {
  await using gateway = await startGateway()
  await using sql = await openDatabase(gateway.dataDir)
  const email = 'known@example.com'
  await signUp(gateway, sql, email)
  const timed = async (address: string) => {
    const body = { email: address, password: 'another long password' }
    const startedAt = performance.now()
    const { status } = await new Browser(gateway).send('POST /api/auth/sign-in/email', body)
    expect(status).toBe(401)
    return performance.now() - startedAt
  }
  const [known, unknown]: [number[], number[]] = [[], []]
  for (let count = 0; count < tries; count += 1) {
    await sql`delete from auth_rate_limit`
    known.push(await timed(email))
    unknown.push(await timed(`nobody-${count}@example.com`))
  }
  // A hash takes many times what everything else does.
  const ratio = middle(known) / middle(unknown)
  recordFigure('B07: a known address, in times of an unknown one', ratio, {
    unit: 'times',
    atLeast: 1 / 4,
    atMost: 4,
  })
})
