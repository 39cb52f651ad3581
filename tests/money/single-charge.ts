import { expect, test } from 'bun:test'
import { accountOf, findBookedOnce, nanosOf, type Billing } from '../harness/ledger'
import { sendRaw, sendRequest, type Json } from '../harness/http'
import { hasEachBooked, sumsOf } from '../faults/services/booked'
import { isReplay, newKey, sendIdempotent } from '../gateway/idempotency/keyed'
import { eventually } from '../../server/testing/eventually'

/** An endpoint without streams. */
export interface PlainEndpoint {
  path: string
  /** The fields of a model of its kind, at a price. */
  model: Json
  /** A body without its model. */
  body: Json
}

const credit = 10_000_000_000n

/** Declares the tests that a request of an endpoint without streams is charged once; `open` returns what they run at. */
export function testSingleCharge(open: () => Billing, { path, model, body }: PlainEndpoint): void {
  /** Resolves once all that was settled before is booked: a request of another account is, which came after it. */
  const untilBooked = async ({ rig, sql, customer }: Billing) => {
    const { key } = await customer(credit)
    const later = { model: await rig.model('ok', model), ...body }
    await findBookedOnce(sql, await sendRequest(rig.gateway, { path, key, body: later }))
  }

  test('a client that disconnects pays for its request once, and never more than was held', async () => {
    const { rig, sql, customer: newCustomer } = open()
    const customer = await newCustomer(credit)
    const { gateway, upstream } = rig
    const held = { model: await rig.model('held-first', model), ...body }
    const client = await sendRaw(gateway, { path, key: customer.key, body: held })
    await eventually(() => upstream.heldCount() === 1)
    client.close()
    await eventually(() => hasEachBooked(sql, [customer]))
    // A provider may answer all the same.
    upstream.release()
    await untilBooked(open())
    expect(await sumsOf(sql, [customer])).toMatchObject({ events: 1, doubled: 0 })
    const paid = credit - (await accountOf(sql, customer)).posted
    expect(Number(paid)).toBeWithin(1, 200_000)
  })

  test('a repeat with the same Idempotency-Key is answered from the first, free of charge', async () => {
    const { rig, sql, customer: newCustomer } = open()
    const customer = await newCustomer(credit)
    const repeated = { model: await rig.model('ok', model), ...body }
    const keyed = { customer, key: newKey(), path, body: repeated }
    const first = await sendIdempotent(rig.gateway, keyed)
    const again = await sendIdempotent(rig.gateway, keyed)
    expect([first.status, again.text, isReplay(again)]).toEqual([200, first.text, true])
    await untilBooked(open())
    const { cost } = await findBookedOnce(sql, first)
    expect(cost).toBe(nanosOf(first.headers.get('x-tollgate-cost')))
    expect(cost).toBeGreaterThan(0n)
    expect((await accountOf(sql, customer)).posted).toBe(credit - cost)
  })
}
