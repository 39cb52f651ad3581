import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { readContract, type Section } from './contract-pages'
import { root } from './pages'

interface Schema {
  $ref?: string
  properties?: Record<string, unknown>
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

interface Operation {
  description?: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const readDescription = async (name: string): Promise<Description> =>
  Bun.file(join(root, name)).json()

const descriptions = await Promise.all(
  ['openapi.json', 'openapi-operator.json'].map(readDescription),
)
const sections = await readContract()

/** Served beside the described interface. */
const undescribed = new Set(['GET /healthz', 'GET /readyz', 'GET /metrics'])
/** Of every list; section 1.6 has them. */
const paging = new Set(['limit', 'offset', 'cursor'])

function queryOf({ parameters = [] }: Operation): string[] {
  const query = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  return query.filter((name) => !paging.has(name))
}

const bodyOf = ({ requestBody }: Operation, { components }: Description): string[] =>
  Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
    fieldsOf(schema, components.schemas),
  )

function fieldsOf(schema: Schema, known: Record<string, Schema>): string[] {
  const named = known[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
  const parts = [...(named.anyOf ?? []), ...(named.oneOf ?? []), ...(named.allOf ?? [])]
  return [...Object.keys(named.properties ?? {}), ...parts.flatMap((part) => fieldsOf(part, known))]
}

/** An endpoint as the interface describes it. */
interface Described {
  /** Undefined where none is asked for. */
  permission: string | undefined
  fields: string[]
}

const described = new Map<string, Described>(
  descriptions.flatMap((description) =>
    Object.entries(description.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]): [string, Described] => [
        `${method.toUpperCase()} ${path}`,
        {
          permission: /(?:Needs|Requires) the permission `(\w+)`/.exec(
            operation.description ?? '',
          )?.[1],
          fields: [...queryOf(operation), ...bodyOf(operation, description)],
        },
      ]),
    ),
  ),
)

/** A row of the contract that names endpoints. */
interface Row {
  endpoints: string[]
  /** The permission that it names first, where its table has a column for it. */
  permission: string | undefined
  /** Every word in backticks in its section, and in the sections that it links to. */
  words: ReadonlySet<string>
}

const endpoint = /`((?:GET|POST|PUT|PATCH|DELETE) \/[^`]*)`/g

const rows: Row[] = sections.flatMap((section) => {
  const lines = section.text.split('\n')
  const head = lines.find((line) => line.startsWith('| Endpoint |')) ?? ''
  const hasPermission = head.startsWith('| Endpoint | Permission')
  return lines
    .filter((line) => line.startsWith('| `'))
    .map((line): Row => {
      const [, first = '', second = ''] = line.split(/(?<!\\)\|/)
      return {
        endpoints: [...first.matchAll(endpoint)].map(([, name = '']) => name),
        permission: hasPermission ? /`(\w+)`/.exec(second)?.[1] : undefined,
        words: wordsOf(section, line),
      }
    })
    .filter(({ endpoints }) => endpoints.length > 0)
})

function wordsOf(section: Section, line: string): Set<string> {
  const linked = [...line.matchAll(/\[(\d+\.\d+)\]\(/g)].map(([, number]) => number)
  const texts = [section, ...sections.filter(({ number }) => linked.includes(number))]
  return new Set(
    texts.flatMap(({ text }) =>
      [...text.matchAll(/`([^`]+)`/g)].flatMap(([, quoted = '']) => quoted.match(/\w+/g) ?? []),
    ),
  )
}

const documented = rows.flatMap(({ endpoints, ...row }) =>
  endpoints.map((name) => ({ name, ...row })),
)

test('every endpoint has one row of the contract, and no row names another', () => {
  const names = documented.map(({ name }) => name).filter((name) => !undescribed.has(name))
  expect(names.toSorted()).toEqual([...described.keys()].toSorted())
})

test('the permission of an endpoint matches its row', () => {
  const wanted = documented.flatMap(({ name }) => {
    const permission = described.get(name)?.permission
    return permission === undefined ? [] : [`${name}: ${permission}`]
  })
  const named = documented.flatMap(({ name, permission }) =>
    permission === undefined ? [] : [`${name}: ${permission}`],
  )
  expect(named).toEqual(wanted)
  expect(named.length).toBeGreaterThan(80)
})

test('every field of a request is named in the section of its endpoint', () => {
  const missing = documented.flatMap(({ name, words }) =>
    (described.get(name)?.fields ?? [])
      .filter((field) => !words.has(field))
      .map((field) => `${name}: ${field}`),
  )
  expect(missing).toEqual([])
})

test('sections are numbered as their pages, each number once', () => {
  const numbers = sections.map(({ number }) => number)
  expect(numbers).toEqual([...new Set(numbers)])
  const misplaced = sections.filter(
    ({ number, page }) => !page.startsWith(`docs/contract/${number.split('.')[0]}-`),
  )
  expect(misplaced.map(({ number, page }) => `${number} in ${page}`)).toEqual([])
  expect(numbers.length).toBeGreaterThan(60)
})
