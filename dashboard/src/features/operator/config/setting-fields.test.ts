import { expect, test } from 'bun:test'
import { newIn } from './queries'
import schema from './settings-schema.json'
import { toSections, type SettingSchema } from './setting-fields'

test('every setting of the API has an input, with its label and its bounds', () => {
  const sections = toSections(schema)
  const fields = sections.flatMap((section) => section.fields)
  expect(new Set(fields.map(({ path }) => path.split('.')[0]))).toEqual(
    new Set(Object.keys(schema.properties)),
  )
  expect(fields.filter(({ label, path, about }) => label === path || about === '')).toEqual([])
  const titles = sections.map(({ title }) => title)
  expect(titles).toEqual(expect.arrayContaining(['Money', 'Access', 'Rate limits', 'Timeouts']))
  expect(new Set(titles).size).toBe(titles.length)
})

test('the unit, the bounds and the choices come from the schema', () => {
  const fields = toSections(schema).flatMap((section) => section.fields)
  const find = (path: string) => fields.find((field) => field.path === path)
  expect(find('timers.idle_seconds')).toEqual({
    path: 'timers.idle_seconds',
    label: 'Idle stream',
    about: 'Timeout of a stream between two events or comments of the provider; in seconds',
    kind: 'number',
    isInteger: false,
    unit: 'seconds',
    min: 0.001,
    max: 86_400,
    choices: [],
    parts: [],
  })
  expect(find('sign_up')).toMatchObject({ kind: 'select', choices: ['open', 'invite', 'closed'] })
  expect(find('retention_days')).toMatchObject({ isInteger: true, min: 2, max: 3650 })
  expect(find('allowed_return_origins')).toMatchObject({ kind: 'tags' })
  expect(find('catalog_public_key')).toMatchObject({ kind: 'text', choices: [], parts: [] })
  expect(find('unpriced_models')).toMatchObject({
    kind: 'alternative',
    choices: ['refuse', 'free'],
    parts: [
      { path: 'unpriced_models.input', label: 'Input price', kind: 'number', unit: 'USD' },
      { path: 'unpriced_models.output', label: 'Output price', kind: 'number', unit: 'USD' },
    ],
  })
})

test('a setting is on the card that its row names, else on the last one', () => {
  const flag = { type: 'boolean', title: 'Be kind', description: 'whether `it` is kind' }
  const properties: Record<string, SettingSchema> = {
    first: flag,
    second: { ...flag, 'x-section': 'Access' },
    union: { title: 'Of two types' },
  }
  const sections = toSections({ properties })
  expect(sections.map(({ title, fields }) => [title, fields.map(({ path }) => path)])).toEqual([
    ['Access', ['second']],
    ['Other', ['first']],
  ])
  expect(sections[0]?.fields[0]?.about).toBe('whether it is kind')
})

test('changed settings are sent one by one, an alternative as a whole', () => {
  const before = {
    rates: { one: 1, two: 2 },
    unpriced_models: { input: 10, output: 50 },
    sign_up: 'open',
  }
  const now = {
    rates: { one: 1, two: 3 },
    unpriced_models: { input: 20, output: 50 },
    sign_up: 'open',
  }
  expect(newIn(now, before)).toEqual({
    rates: { two: 3 },
    unpriced_models: { input: 20, output: 50 },
  })
})
