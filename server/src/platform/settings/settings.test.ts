import { expect, test } from 'bun:test'
import { LiveSettings } from './live-settings'
import { defaultSettings, toColumn, toSettings, type SettingsChange } from './stored-settings'
import { readConfig } from '../config/config'

const defaults = defaultSettings(
  readConfig({ MINIMUM_BALANCE_USD: '0.25', RETENTION_DAYS: '7', CONNECT_TIMEOUT_SECONDS: '1.5' }),
)

const read = (column: object) => {
  const damaged: string[] = []
  return { settings: toSettings(defaults, column, (name) => damaged.push(name)), damaged }
}

test('the environment gives the defaults; stored values win, field by field', () => {
  expect(defaults).toMatchObject({ minimumBalance: 250_000_000n, retentionDays: 7 })
  expect(defaults.timers).toMatchObject({ requestMs: 600_000, connectMs: 1500 })
  const change: SettingsChange = {
    minimumBalance: 123_456_789_012_345_678n,
    signUp: 'invite',
    rates: { apiRequestsPerMinute: 5 },
    timers: { connectMs: 10 },
  }
  const { settings, damaged } = read(JSON.parse(toColumn(change)))
  expect(damaged).toEqual([])
  expect(settings).toEqual({
    ...defaults,
    minimumBalance: 123_456_789_012_345_678n,
    signUp: 'invite',
    rates: { ...defaults.rates, apiRequestsPerMinute: 5 },
    timers: { ...defaults.timers, connectMs: 10 },
  })
  expect(read({}).settings).toEqual(defaults)
})

test('reports a damaged setting and uses its default; the others are as stored', () => {
  const { settings, damaged } = read({
    minimumBalance: '-1',
    retentionDays: 1,
    timers: { connectMs: 0 },
    logBodies: true,
    unknown: 1,
  })
  expect(damaged).toEqual(['minimumBalance', 'timers', 'retentionDays'])
  expect(settings).toEqual({ ...defaults, logBodies: true })
})

test('a reading that began earlier and is answered later changes nothing', async () => {
  const waiting: ((column: object) => void)[] = []
  const errors: unknown[] = []
  const damaged: string[] = []
  const row = {
    read: () => new Promise<object>((resolve) => waiting.push(resolve)),
    change: () => Promise.resolve(),
  }
  const live = new LiveSettings({
    row,
    defaults,
    onError: (error) => errors.push(error),
    onDamaged: (name) => damaged.push(name),
  })
  const readings = [live.read(), live.read()]
  waiting[1]?.({ logBodies: true })
  await readings[1]
  waiting[0]?.({ logBodies: false })
  expect((await readings[0])?.logBodies).toBe(true)
  expect(live.current.logBodies).toBe(true)
  row.read = () => Promise.resolve({ logBodies: 'damaged' })
  for (let round = 0; round < 3; round++) await live.read()
  // Once, not every few seconds.
  expect(damaged).toEqual(['logBodies'])
  waiting.length = 0
  row.read = () => new Promise<object>((resolve) => waiting.push(resolve))
  for (let times = 0; times < 5; times++) live.refresh()
  expect(waiting).toHaveLength(1)
  waiting[0]?.({ logBodies: true })
  await new Promise(setImmediate)
  // One more for all that came while it ran: it may have known less.
  expect([waiting.length, live.current.logBodies]).toEqual([2, true])
  waiting[1]?.({})
  await new Promise(setImmediate)
  row.read = () => Promise.reject(new Error('away'))
  live.refresh()
  await new Promise(setImmediate)
  expect([live.current.logBodies, errors.length]).toEqual([false, 1])
})
