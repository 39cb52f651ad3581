import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'

const Node = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  maxItems: z.number().optional(),
  maxProperties: z.number().optional(),
})

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const document: Record<string, unknown> = await Bun.file(
  join(import.meta.dir, '../../../openapi.json'),
).json()

const at = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

const referred = (ref: string): unknown => ref.slice(2).split('/').reduce(at, document)

const choicesIn = (node: Record<string, unknown>): unknown[] =>
  [node['anyOf'] ?? [], node['oneOf'] ?? [], node['allOf'] ?? []].flat()

/** The paths of all lists and maps of a schema that may have any number of members. */
function* unboundedIn(
  schema: unknown,
  path: string,
  visited: readonly string[],
): Generator<string> {
  const node = Node.safeParse(schema).data
  if (!node) return
  const { $ref } = node
  if ($ref !== undefined) {
    if (!visited.includes($ref)) yield* unboundedIn(referred($ref), path, [...visited, $ref])
    return
  }
  const types = [node.type ?? []].flat()
  if (types.includes('array') && node.maxItems === undefined) yield `${path}[]`
  const others = node['additionalProperties']
  // What is not named travels on, and is bounded by what a body may have in it.
  const isMap = isObject(others) && Object.keys(others).length > 0
  if (isMap && node.maxProperties === undefined) yield `${path}{}`
  for (const one of choicesIn(node)) yield* unboundedIn(one, path, visited)
  const properties = node['properties']
  if (isObject(properties)) {
    for (const [name, inner] of Object.entries(properties)) {
      yield* unboundedIn(inner, `${path}.${name}`, visited)
    }
  }
  yield* unboundedIn(node['items'], `${path}[]`, visited)
  if (isMap) yield* unboundedIn(others, `${path}{}`, visited)
}

function* bodies(): Generator<[string, unknown]> {
  const paths = document['paths']
  if (!isObject(paths)) throw new Error('openapi.json has no paths')
  for (const [path, operations] of Object.entries(paths)) {
    if (!isObject(operations)) continue
    for (const [method, operation] of Object.entries(operations)) {
      const content = at(at(operation, 'requestBody'), 'content')
      if (!isObject(content)) continue
      for (const media of Object.values(content)) yield [`${method} ${path}`, at(media, 'schema')]
    }
  }
}

test('S3: every list and every map of every body has a maximum number of members', () => {
  const all = [...bodies()]
  expect(all.length).toBeGreaterThan(40)
  const unbounded = all.flatMap(([operation, schema]) => [
    ...new Set([...unboundedIn(schema, '', [])].map((path) => `${operation} ${path}`)),
  ])
  expect(unbounded).toEqual([])
})
