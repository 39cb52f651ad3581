import { expect } from 'bun:test'
import type { TunnelFixture, Home } from './tunnel-fixture'
import { openDatabase } from '../../harness/database'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import { eventually } from '../../../server/testing/eventually'
import { runCommand } from '../../harness/run-command'

/**
 * Checks that each admitted request is booked once, that the ledger charged their cost, and that the
 * audit finds nothing. `unanswered`: requests of a killed Tollgate without a known id; they cost nothing.
 */
export async function expectSums(
  { tollgate: { dataDir } }: TunnelFixture,
  homes: readonly Home[],
  { unanswered = 0 } = {},
): Promise<void> {
  await using sql = await openDatabase(dataDir)
  const expected = homes.reduce((sum, { requests }) => sum + requests.length, unanswered)
  const keys = homes.map(({ caller }) => caller.keyId)
  // What is missing in the end is found below.
  let booked = 0
  await eventually(async () => {
    const [{ count }] = await sql`select count(*) from usage_event where key_id in ${sql(keys)}`
    booked = Number(count)
    return booked >= expected
  }).catch(() => undefined)
  await waitUntilBooked(sql, booked)
  let unknown = 0
  for (const { caller, requests } of homes) {
    const rows: { request_id: string; state: string; cost: string }[] = await sql`
      select request_id, state, cost::text from usage_event where key_id = ${caller.keyId}`
    const billed = rows.filter((row) => requests.includes(row.request_id))
    expect(billed.map((row) => row.request_id).toSorted()).toEqual(requests.toSorted())
    const untold = rows.filter((row) => !requests.includes(row.request_id))
    expect(untold.filter(({ state, cost }) => state !== 'orphan' || cost !== '0')).toEqual([])
    unknown += untold.length
    const [{ posted }] = await sql`
      select coalesce(sum(amount), 0)::text as posted from ledger_entry
      join ledger_transaction on ledger_transaction.id = transaction_id
      where kind = 'usage' and account_id = ${caller.userId}`
    const cost = rows.reduce((sum, row) => sum + BigInt(row.cost), 0n)
    expect(-BigInt(posted)).toBe(cost)
  }
  expect(unknown).toBe(unanswered)
  await expectSoundLedger(sql)
  expect(await runCommand('audit', { DATA_DIR: dataDir })).toMatchObject({ code: 0, err: '' })
}
