import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sendRequest, messages } from '../../harness/http'
import { openDatabase } from '../../harness/database'
import { waitUntilBooked } from '../../harness/ledger'
import { startRig, type Rig } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

let rig: Rig

beforeAll(async () => {
  rig = await startRig()
})
afterAll(async () => {
  await limitFiles('unlimited')
  await rig[Symbol.asyncDispose]()
})

/** Has every write beyond so many bytes of a file fail, as on a full disk, or none. */
async function limitFiles(bytes: number | 'unlimited'): Promise<void> {
  const { pid } = rig.gateway
  const child = Bun.spawn(['prlimit', `--pid=${pid}`, `--fsize=${bytes}:`])
  expect(await child.exited).toBe(0)
}

async function readiness() {
  const { status, error } = await sendRequest(rig.gateway, { method: 'GET', path: '/readyz' })
  return { status, checks: error?.details?.['checks'] }
}

test('M4: a node whose journal cannot be written is not ready, until it can be written again', async () => {
  const { gateway } = rig
  await using sql = await openDatabase(gateway.dataDir)
  const { key } = await gateway.customer()
  const model = await rig.model('ok')
  const chat = async () => (await sendRequest(gateway, { key, body: { model, messages } })).status
  expect([await chat(), (await readiness()).status]).toEqual([200, 200])
  await limitFiles(1)
  const expectFull = async () => {
    expect(await chat()).toBe(503)
    expect(await readiness()).toEqual({
      status: 503,
      checks: { database: true, journal: false, running: true },
    })
  }
  await expectFull()
  // That what came before is booked meanwhile makes no room for more.
  await waitUntilBooked(sql, 1)
  await expectFull()
  await limitFiles('unlimited')
  await eventually(async () => (await readiness()).status === 200)
  expect([(await readiness()).status, await chat()]).toEqual([200, 200])
})
