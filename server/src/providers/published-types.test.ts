import { describe, expect, test } from 'bun:test'
import { tableDialects } from '../../testing/conformance/table'
import { publishedFields, publishedNestedFields } from '../../testing/providers/published-fields'
import { fateOf, type Fate, type Parameter } from '../../testing/providers/published-parameters'
import { providers } from './registry'
import { expectInDocs, toTable } from '../../testing/wire/docs-table'
import { PublishedTypes } from '../../testing/wire/published-types'

/**
 * What OpenAI's newest SDK can send as a chat request, read from its types: a new version that knows more
 * fails here until it is decided what becomes of it.
 */
const sdk = new PublishedTypes('openai', 'resources/chat/completions/completions.d.ts')

const fatesOf = (name: string, parameter: Parameter): Fate[] =>
  tableDialects.map((dialect) => fateOf(dialect, name, parameter))

/** Silence needs a reason, and a reason silence. */
function expectNoSilence(name: string, parameter: Parameter): void {
  const fates = fatesOf(name, parameter)
  expect(fates.includes('silent')).toBe(parameter.why !== undefined)
}

describe('every published field of a chat request arrives, is rejected by name, or is named as left out', () => {
  test('the list contains all fields and no others', () => {
    expect(sdk.fieldsOf('ChatCompletionCreateParamsBase')).toEqual(Object.keys(publishedFields))
  })

  test.each(Object.entries(publishedFields))('%s', expectNoSilence)

  test('an unknown field is named as well', () => {
    const fates = fatesOf('newer', { chat: { newer: { a: 1 } } })
    expect(fates).toEqual(['yes', 'named', 'named', 'named', 'named', 'named'])
  })
})

const relayed = providers.filter(({ dialect }) => dialect === 'openai')

describe('every relaying provider receives them too', () => {
  test.each(relayed.map(({ key, options }) => [key, options] as const))('%s', (name, options) => {
    for (const upstreamModel of ['acme-1', ...options.reasoningModels]) {
      for (const [field, parameter] of Object.entries(publishedFields)) {
        const fate = fateOf({ name, upstreamModel, options }, field, parameter)
        const actual = { field, upstreamModel, fate }
        if (parameter.why === undefined) expect(actual).not.toMatchObject({ fate: 'silent' })
      }
    }
  })
})

/** The types that a union is of, and those that its members are unions of. */
const partsOf = (union: string): string[] =>
  sdk.membersOf(union).filter((name) => name.startsWith('ChatCompletion'))

/** They say what a message or a part is. */
const discriminators = new Set(['role', 'type'])

describe('every published field of messages, parts and tools arrives, is rejected by name, or is left out for a reason', () => {
  test('the list contains all types and no others', () => {
    const actualFields = [
      'ChatCompletionMessageParam',
      'ChatCompletionContentPart',
      'ChatCompletionTool',
      'ChatCompletionMessageToolCall',
      'ChatCompletionToolChoiceOption',
    ].flatMap(partsOf)
    // Only what an assistant says has it: the union of parts is that of a user.
    const all = [...actualFields, 'ChatCompletionContentPartRefusal']
    expect(all.toSorted()).toEqual(Object.keys(publishedNestedFields).toSorted())
  })

  test.each(Object.entries(publishedNestedFields))('%s', (type, fields) => {
    const actualFields = sdk.fieldsOf(type).filter((name) => !discriminators.has(name))
    expect(actualFields).toEqual(Object.keys(fields))
    for (const [name, parameter] of Object.entries(fields)) expectNoSilence(name, parameter)
  })
})

const fateTexts: Readonly<Record<Fate, string>> = {
  yes: 'yes',
  refused: 'refused',
  named: 'named',
  silent: '–',
}

const rowsOf = (fields: Readonly<Record<string, Parameter>>, prefix = '') =>
  Object.entries(fields).map(([name, parameter]) => [
    `${prefix}\`${name}\``,
    ...fatesOf(name, parameter).map((fate) => fateTexts[fate]),
    parameter.why ?? '',
  ])

test('the table of chat requests in docs/guides/parameters.md matches the code; WRITE_DOCS=1 writes it', async () => {
  const head = ['Field', ...tableDialects.map(({ name }) => name), 'Why nothing arrives']
  const parts = Object.entries(publishedNestedFields).flatMap(([type, fields]) =>
    rowsOf(fields, `${type.replace(/^ChatCompletion/, '').replace(/Param$/, '')}: `),
  )
  const write = process.env['WRITE_DOCS'] === '1'
  const place = { page: 'guides/parameters.md', name: 'The table of chat requests', write }
  await expectInDocs(place, toTable(head, [...rowsOf(publishedFields), ...parts]))
})
