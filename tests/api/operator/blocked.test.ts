import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { openDatabase } from '../../harness/database'
import { sendRequest as askModel, messages } from '../../harness/http'
import { startRig, type Rig } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

let rig: Rig

beforeAll(async () => {
  // No audit comes in between, which would lift what it did not find itself.
  rig = await startRig({ environment: { AUDIT_SECONDS: '86400' } })
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

test('the operator sees why the audit blocked an account, and lifts it', async () => {
  const { gateway } = rig
  const [blocked, neighbour] = [await gateway.customer(), await gateway.customer()]
  const reason = 'I2 (q2a): the balance is not the sum of its entries'
  await using sql = await openDatabase(gateway.dataDir)
  await sql`
    update credit_account set blocked_reason = ${reason}
    where id in (${blocked.userId}, ${neighbour.userId})`
  const model = await rig.model('ok')
  const chat = async () =>
    (await askModel(gateway, { key: blocked.key, body: { model, messages } })).status
  const becomes = async (status: number) => {
    const tookMs = await eventually(async () => (await chat()) === status)
    recordFigure(`a block that makes answers ${status}`, tookMs, { unit: 'ms', atMost: 1000 })
  }
  await becomes(402)
  const path = `/users/${blocked.userId}`
  const shown = { blocked: true, blocked_reason: reason, payment_method_required: false }
  expect((await sendOperatorRequest(gateway, `GET ${path}`)).body).toMatchObject(shown)
  const named = await sendOperatorRequest(gateway, `PUT ${path}`, { display_name: 'Still blocked' })
  expect(named.body).toMatchObject(shown)
  const lifted = await sendOperatorRequest(gateway, `PUT ${path}`, { blocked: false })
  expect(lifted.body).toMatchObject({ blocked: false, blocked_reason: null })
  await becomes(200)
  const other = await sendOperatorRequest(gateway, `GET /users/${neighbour.userId}`)
  expect(other.body).toMatchObject({ blocked: true })
  const again = await sendOperatorRequest(gateway, `PUT ${path}`, { blocked: false })
  expect([again.status, again.body['blocked']]).toEqual([200, false])
})

test.each([
  [true, 'unknown_value'],
  ['no', 'wrong_type'],
  [null, 'wrong_type'],
])('blocked %j is rejected: %s', async (value, issue) => {
  const { userId } = await rig.gateway.customer()
  const refused = await sendOperatorRequest(rig.gateway, `PUT /users/${userId}`, { blocked: value })
  expect(problem(refused)).toEqual([400, 'blocked', issue])
})
