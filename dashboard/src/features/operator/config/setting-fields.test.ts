import { expect, test } from 'bun:test'
import schema from './settings-schema.json'
import { toSections, type SettingSchema } from './setting-fields'

/** Settings of types without an input of their own: only the API changes them. */
const apiOnly = ['unpriced_models', 'catalog_public_key']

test('every setting of the API has an input, with its label and its bounds', () => {
  const sections = toSections(schema)
  const fields = sections.flatMap((section) => section.fields)
  const names = Object.keys(schema.properties).filter((name) => !apiOnly.includes(name))
  expect(new Set(fields.map(({ path }) => path.split('.')[0]))).toEqual(new Set(names))
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
  })
  expect(find('sign_up')).toMatchObject({ kind: 'select', choices: ['open', 'invite', 'closed'] })
  expect(find('retention_days')).toMatchObject({ isInteger: true, min: 2, max: 3650 })
  expect(find('allowed_return_origins')).toMatchObject({ kind: 'tags' })
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
