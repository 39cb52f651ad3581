import { afterAll, beforeAll, expect, test } from 'bun:test'
import { configRowIn, type ConfigRow } from './config-row'
import { toColumn } from './stored-settings'
import { openTestDatabase } from '../../../testing/db/database'

const stack = new AsyncDisposableStack()
let row: ConfigRow

beforeAll(async () => {
  row = configRowIn((await openTestDatabase(stack)).query)
})
afterAll(() => stack.disposeAsync())

test('a change leaves unnamed settings alone, in groups too', async () => {
  expect(await row.read()).toEqual({})
  await row.change(toColumn({ minimumBalance: 5n, rates: { alertTestsPerHour: 1 } }))
  await row.change(toColumn({ signUp: 'closed', timers: { idleMs: 2 } }))
  await row.change(toColumn({ timers: { connectMs: 3 }, allowedReturnOrigins: ['http://a'] }))
  await row.change(toColumn({ rates: { alertTestsPerHour: 4 }, allowedReturnOrigins: [] }))
  await row.change(toColumn({ ownerPriceLimits: { input: 1n } }))
  await row.change(toColumn({ ownerPriceLimits: { output: 0n } }))
  expect(await row.read()).toEqual({
    invoices: {},
    minimumBalance: '5',
    signUp: 'closed',
    ownerPriceLimits: { input: '1', output: '0' },
    rates: { alertTestsPerHour: 4 },
    timers: { idleMs: 2, connectMs: 3 },
    allowedReturnOrigins: [],
  })
})
