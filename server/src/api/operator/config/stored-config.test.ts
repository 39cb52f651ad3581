import { expect, test } from 'bun:test'
import * as fc from '../../../../testing/property'
import { z } from 'zod'
import { SchemaConverter } from '../../../http/openapi/json-schema'
import { ChangedConfig } from './schema'
import { createConfigStore } from './store'
import { readConfig } from '../../../platform/config/config'
import { LiveSettings } from '../../../platform/settings/live-settings'
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
const byUnit: Readonly<Record<string, fc.Arbitrary<number>>> = {
  USD: money,
  percent: fc.constantFrom(0, 0.01, 2.5, 99.99, 100),
  seconds: fc.constantFrom(0.001, 0.999, 1.5, 2, 86_399.999, 86_400),
}

interface FieldSchema {
  type?: string | string[]
  enum?: readonly unknown[]
  minimum?: number
  maximum?: number
  properties?: Readonly<Record<string, FieldSchema>>
  'x-unit'?: string
}

/** Generates the values of a schema: of a switch, a choice, a number or a group. */
function toArbitrary(schema: FieldSchema): fc.Arbitrary<unknown> | undefined {
  const { type, enum: choices, minimum, maximum, properties, 'x-unit': unit = '' } = schema
  if (type === 'boolean') return fc.boolean()
  if (choices) return fc.constantFrom(...choices)
  if (type === 'integer') return fc.integer({ min: minimum ?? 0, max: maximum ?? 2 ** 31 - 1 })
  if (properties) return fc.record(toArbitraries(properties), { requiredKeys: [] })
  return byUnit[unit]
}

const toArbitraries = (fields: Readonly<Record<string, FieldSchema>>) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, schema]) => {
      const arbitrary = toArbitrary(schema)
      return arbitrary ? [[name, arbitrary] as const] : []
    }),
  )

const { properties = {} } = new SchemaConverter().toJsonSchema(z.object(ChangedConfig.shape))

const values: Record<string, fc.Arbitrary<unknown>> = {
  ...toArbitraries(properties),
  allowed_return_origins: fc.array(fc.constantFrom('https://a.example', 'http://[::1]:1')),
  catalog_public_key: fc.constantFrom(null, `${'A'.repeat(43)}=`),
  unpriced_models: fc.oneof(
    fc.constantFrom('refuse', 'free'),
    fc.record({ input: money, output: money }),
  ),
  invoices: fc.record(
    {
      from: fc.constantFrom(null, '2026-11-01'),
      seller_name: fc.constantFrom(null, 'Gateways Ltd'),
      seller_address: fc.array(fc.constantFrom('1 High Street', 'London'), { maxLength: 2 }),
      seller_country: fc.constantFrom(null, 'GB'),
      seller_tax_id: fc.constantFrom(null, 'GB123'),
      seller_email: fc.constantFrom(null, 'invoices@example.com'),
      note: fc.constantFrom(null, 'No VAT.'),
      number_prefix: fc.constantFrom('INV', 'A-1'),
      tax_name: fc.constantFrom(null, 'VAT'),
      tax_rate: fc.constantFrom(0, 19, 8.875),
      reverse_charge: fc.constantFrom(null, 'Reverse charge'),
      stripe_tax: fc.boolean(),
      credit_note_prefix: fc.constantFrom('CN', 'INV'),
    },
    { requiredKeys: [] },
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

const toUnrepeated = (value: unknown): unknown => {
  if (Array.isArray(value)) return [...new Set(value)]
  return typeof value === 'object' && value !== null ? unrepeated(value) : value
}

/** Lists are kept without what stands in them twice. */
const unrepeated = (fields: object) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toUnrepeated(value)]))
