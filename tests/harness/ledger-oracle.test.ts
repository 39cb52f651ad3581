import { afterAll, beforeAll, expect, test } from 'bun:test'
import { checks, expectSoundLedger } from './ledger-oracle'
import { findBooked, startBilling, requestIdOf, type Billing } from './ledger'

let billing: Billing

beforeAll(async () => {
  billing = await startBilling({ environment: { LOG_LEVEL: 'warn' } })
  const customer = await billing.customer(1_000_000_000n)
  const answers = await Promise.all([1, 2, 3].map(() => billing.chat(customer, 'chunks-9')))
  await findBooked(billing.sql, answers.map(requestIdOf))
})
afterAll(async () => {
  await expectSoundLedger(billing.sql)
  await billing[Symbol.asyncDispose]()
})

const customerRow = `owner like 'user:%' and posted > 0 and leased > 0`
const corruptions: [keyof typeof checks, string, string][] = [
  [
    'q1',
    'an amount',
    `update ledger_entry set amount = amount + 1 where balance_after is not null`,
  ],
  ['q1', 'a missing entry', `delete from ledger_entry where account_id = 'house:revenue'`],
  ['q2a', 'a balance', `update credit_account set posted = posted + 1 where ${customerRow}`],
  ['q2b', 'a running balance', `update ledger_entry set balance_after = balance_after + 1`],
  ['q3', 'what is leased', `update credit_account set leased = leased - 1 where ${customerRow}`],
  ['q3', 'a lease', `update credit_lease set amount = amount + 1 where state = 'active'`],
  ['q4a', 'what a lease spent', `update credit_lease set spent = spent + 1 where spent > 0`],
  [
    'q4b',
    'what an event cost',
    `update usage_event set cost = cost + 1, from_lease = from_lease + 1 where cost > 0`,
  ],
  ['q4c', 'missing events', `delete from usage_event`],
  ['q7', 'a debt', `update credit_account set posted = -1 where ${customerRow}`],
  ['q8', 'an old lease', `update credit_lease set expires_at = now() - interval '61 seconds'`],
]

test.each(corruptions)('%s finds %s', async (name, _what, statement) => {
  const reserved = await billing.sql.reserve()
  try {
    await reserved`begin`
    // In the order in which a booking locks them.
    await reserved`alter table credit_account drop constraint never_below_zero`
    await reserved`alter table ledger_entry disable trigger append_only`
    await reserved`grant update, delete on ledger_entry to current_user`
    await reserved.unsafe(statement)
    const rows: unknown[] = await reserved.unsafe(checks[name])
    expect(rows.length).toBeGreaterThan(0)
  } finally {
    await reserved`rollback`
    await reserved.release()
  }
})
