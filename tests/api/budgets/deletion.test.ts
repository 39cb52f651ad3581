import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call } from '../../harness/byok'
import { openDatabase, untilBlocked } from '../../harness/database'
import { startRig, type Rig } from '../../harness/server'

let rig: Rig

beforeAll(async () => {
  rig = await startRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

test('a change that waits for the deletion of its budget is a missing resource', async () => {
  const owner = await rig.gateway.customer({ permissions: ['read', 'write', 'admin'] })
  const budget = { name: 'Weekly', amount: 0.01, window: 'week' }
  const { body } = await call(rig.gateway, owner, 'POST /account/budgets', budget)
  const id = String(body['id'])
  await using sql = await openDatabase(rig.gateway.dataDir)
  const { change } = await sql.begin(async (transaction) => {
    await transaction`delete from budget where id = ${id}`
    const changing = call(rig.gateway, owner, `PATCH /account/budgets/${id}`, { amount: 7 })
    await untilBlocked(transaction)
    return { change: changing }
  })
  expect((await change).status).toBe(404)
})
