import { expect, test } from 'bun:test'
import { readConfig } from './config'

test('request logs stay in PostgreSQL for longer than the journal, from which a restore books them', () => {
  const settings = { CLICKHOUSE_URL: 'https://me:secret@host:8443/logs', JOURNAL_KEEP_HOURS: '72' }
  expect(() => readConfig(settings)).toThrow('CLICKHOUSE_RECENT_DAYS: must be at least 4')
  const { clickHouse } = readConfig({ ...settings, CLICKHOUSE_RECENT_DAYS: '4' })
  expect(clickHouse).toMatchObject({ recentDays: 4, address: { user: 'me', database: 'logs' } })
  // Without a ClickHouse all logs stay.
  expect(readConfig({ JOURNAL_KEEP_HOURS: '72' }).clickHouse.recentDays).toBe(3)
})
