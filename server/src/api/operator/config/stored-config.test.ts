import { expect, test } from 'bun:test'
import * as fc from '../../../../testing/property'
import { z } from 'zod'
import { ChangedConfig } from './schema'
import { createConfigStore } from './store'
import { readConfig } from '../../../platform/config/config'
import { LiveSettings } from '../../../platform/settings/live-settings'
import { liveSettings } from '../../../platform/settings/settings'
import { defaultSettings } from '../../../platform/settings/stored-settings'

const defaults = defaultSettings(readConfig({}))

/** A configuration row in memory, with every stored value that the reader refused. */
function openSettings() {
  let stored: Record<string, unknown> = {}
  const damaged: string[] = []
  const row = {
    read: async () => stored,
    change: async (column: string) => {
      stored = { ...stored, ...z.record(z.string(), z.unknown()).parse(JSON.parse(column)) }
    },
  }
  const settings = new LiveSettings({
    row,
    defaults,
    onError: (error) => damaged.push(String(error)),
    onDamaged: (name) => damaged.push(name),
  })
  return { config: createConfigStore(settings), damaged }
}

const money = fc.oneof(
  fc.nat({ max: 2 ** 31 - 1 }).map((nanos) => nanos / 1e9),
  fc.constantFrom(0, 1e-9, 1_000_000, 1_000_001, 999_999_999, 1e9, 1e9 + 1),
)
const count = fc.constantFrom(1, 2, 7, 3650, 86_400, 2_147_483_647)
const duration = fc.constantFrom(0.001, 0.999, 1.5, 2, 86_399.999, 86_400)
const group = (names: readonly string[], value: fc.Arbitrary<number>) =>
  fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] })

const inner = (name: 'rates' | 'timers') =>
  Object.values(liveSettings[name].settings).map(({ field }) => field)

const values = {
  minimum_balance: money,
  warning_threshold: money,
  platform_fee_percent: fc.constantFrom(0, 0.01, 2.5, 99.99, 100),
  platform_connections: fc.boolean(),
  owner_price_limits: group(['input', 'output'], money),
  sign_up: fc.constantFrom('open', 'invite', 'closed'),
  bare_model_names: fc.boolean(),
  log_bodies: fc.boolean(),
  unanswered_requests: fc.constantFrom('charge', 'waive'),
  rates: group(inner('rates'), count),
  timers: group(inner('timers'), duration),
  retention_days: count,
  stored_megabytes_per_account: fc.integer({ min: 128, max: 1_048_576 }),
  allowed_return_origins: fc.array(fc.constantFrom('https://a.example', 'http://[::1]:1')),
  catalog_public_key: fc.constantFrom(null, `${'A'.repeat(43)}=`),
  unpriced_models: fc.oneof(
    fc.constantFrom('refuse', 'free'),
    fc.record({ input: money, output: money }),
  ),
  allowed_private_networks: fc.array(fc.constantFrom('10.0.0.0/8', '::/0')),
}

test('the values above are of every field that there is', () => {
  expect(Object.keys(values).toSorted()).toEqual(Object.keys(ChangedConfig.shape).toSorted())
})

test('M7: every setting that is accepted holds as it was sent', async () => {
  const property = fc.asyncProperty(fc.record(values, { requiredKeys: [] }), async (fields) => {
    const accepted = ChangedConfig.safeParse(fields)
    fc.pre(accepted.success)
    if (!accepted.success) return
    const { config, damaged } = openSettings()
    const answer = await config.change(accepted.data)
    expect(damaged).toEqual([])
    expect(answer).toMatchObject(unrepeated(fields))
  })
  await fc.assert(property, { numRuns: 500 })
})

/** Lists are kept without what stands in them twice. */
const unrepeated = (fields: object) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      Array.isArray(value) ? [...new Set(value)] : value,
    ]),
  )
