import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { purgeNotices } from './purge-notices'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { createCustomer } from '../../testing/ledger/customer'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

test('notifications go after 90 days, triggers too but the last ten, mails after a week, deliveries after 30 days', async () => {
  const { query } = database
  const userId = await createCustomer(database)
  await sql`
    insert into notification (id, user_id, kind, title, body, created_at)
    select 'ntf_' || days, ${userId}, 'system', 'x', 'x', now() - days * interval '1 day'
    from unnest(array[0, 89, 91]) as days`.execute(query)
  await sql`
    insert into alert (id, user_id, name, type, threshold, period, enabled, channels)
    select 'alert_' || n, ${userId}, 'x', 'error_rate', 1, 'day', true, '{}'
    from generate_series(1, 2) as n`.execute(query)
  // Of the first alert twelve old ones, of the second one old and fourteen new ones.
  await sql`
    insert into alert_trigger (id, alert_id, triggered_at, value)
    select 'trg_1_' || n + 10, 'alert_1', now() - interval '91 days', 1
    from generate_series(1, 12) as n
    union all
    select 'trg_2_' || n + 10, 'alert_2',
      now() - case n when 1 then 91 else 89 end * interval '1 day', 1
    from generate_series(1, 15) as n`.execute(query)
  await sql`
    insert into mail (recipient, subject, body, sent_at, failed_at, created_at)
    select state || '@example.com', 'x', 'x',
      case state when 'sent' then now() - interval '8 days'
        when 'fresh' then now() - interval '6 days' end,
      case state when 'failed' then now() - interval '8 days' end,
      now() - interval '9 days'
    from unnest(array['sent', 'fresh', 'failed', 'waiting']) as state`.execute(query)
  await sql`
    insert into notification_destination
      (id, user_id, name, kind, shown_url, events, enabled, secret, secret_key_id)
    values ('dest_1', ${userId}, 'x', 'slack', '', '{}', true, '', '')`.execute(query)
  await sql`
    insert into notification_delivery (id, destination_id, event, payload, created_at)
    select 'dlv_' || days, 'dest_1', 'test', '{}', now() - days * interval '1 day'
    from unnest(array[29, 31]) as days`.execute(query)
  expect(await purgeNotices(query)).toBe(1 + 3 + 2 + 1)
  expect(await purgeNotices(query)).toBe(0)
  const countRows = async (table: string, column: string) => {
    const { rows } = await sql<{ name: string }>`
      select ${sql.ref(column)} as name from ${sql.table(table)} order by 1`.execute(query)
    return rows.map(({ name }) => name)
  }
  expect(await countRows('notification', 'id')).toEqual(['ntf_0', 'ntf_89'])
  expect(await countRows('notification_delivery', 'id')).toEqual(['dlv_29'])
  expect((await countRows('alert_trigger', 'id')).slice(0, 2)).toEqual(['trg_1_13', 'trg_1_14'])
  expect(
    (await countRows('alert_trigger', 'alert_id')).filter((id) => id === 'alert_2'),
  ).toHaveLength(14)
  expect(await countRows('mail', 'recipient')).toEqual(['fresh@example.com', 'waiting@example.com'])
})
