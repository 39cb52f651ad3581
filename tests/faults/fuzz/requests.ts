import * as fc from '../../../server/testing/property'
import { brokenBody, damage, hostileText } from './hostile'
import { valuesOf } from './values'
import type { CreatedObject } from '../../api/authorization/kind'
import {
  pathOf,
  type Description,
  type Operation,
  type Route,
} from '../../api/authorization/routes'
import type { Json } from '../../harness/http'

/** A request as it is sent, and whose key goes with it. */
export interface Trial {
  path: string
  method: string
  headers: Record<string, string>
  body: string | undefined
  /** Which of the objects' owners sends it. */
  who: number
}

/** What a route is tried with. */
export interface FuzzCase {
  route: Route
  description: Description
  operation: Operation | undefined
  /** A good body, where the description has no example. */
  body: Json | undefined
  /** Objects that its path can name, each with its owner. */
  objects: readonly CreatedObject[]
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed())

const queryValue = fc.oneof(
  hostileText,
  fc.constantFrom(
    '1',
    '100',
    'true',
    'false',
    'active',
    'organization',
    'individual',
    '2026-01-31',
  ),
)

function queries({ operation, objects }: FuzzCase): fc.Arbitrary<string> {
  const known = (operation?.parameters ?? []).filter((one) => one.in === 'query')
  const names = [...known.map(({ name }) => name), 'limit', 'search', 'unknown']
  const ids = objects.flatMap((made) => made.ids)
  const value = ids.length > 0 ? fc.oneof(queryValue, fc.constantFrom(...ids)) : queryValue
  return fc
    .array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 3 })
    .map((pairs) => pairs.map(([name, text]) => `${name}=${encoded(text)}`).join('&'))
}

// What clients take for steps never gets here.
const isPart = (text: string) => !['', '.', '..'].includes(text)

const damagedId = (own: string) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(own) },
    { weight: 1, arbitrary: hostileText.map(encoded).filter(isPart) },
    { weight: 1, arbitrary: fc.constantFrom('%', '%zz', '%ff', `${own}/`, own.toUpperCase()) },
  )

/** The path that an object has, some of its ids replaced. */
const paths = ({ route }: FuzzCase, { ids }: Pick<CreatedObject, 'ids'>): fc.Arbitrary<string> =>
  fc.tuple(...ids.map(damagedId)).map((all) => pathOf(route, all))

function bodies({
  route,
  description,
  operation,
  body,
}: FuzzCase): fc.Arbitrary<string | undefined> {
  const content = operation?.requestBody?.content['application/json']
  if (!content && !body) {
    const none = { weight: 9, arbitrary: fc.constant(undefined) }
    return route.method === 'GET' ? fc.constant(undefined) : fc.oneof(none, brokenBody)
  }
  const examples = Object.values(content?.examples ?? {}).map(({ value }) => value)
  const whole = fc.constantFrom(...(examples.length > 0 ? examples : [body ?? {}]))
  const base = content
    ? fc.oneof(whole, valuesOf(content.schema, description.components.schemas))
    : whole
  const written = damage(base).map((value) => JSON.stringify(value) ?? '')
  return fc.oneof({ weight: 9, arbitrary: written }, { weight: 1, arbitrary: brokenBody })
}

const contentType = fc.oneof(
  { weight: 12, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/json; charset=utf-8',
      'application/json; charset=latin1',
      'APPLICATION/JSON',
      'text/plain',
      'multipart/form-data',
      '',
    ),
  },
)

const idempotencyKey = fc.option(fc.constantFrom('a', 'b', ' ', 'x'.repeat(256), 'é'), { freq: 5 })

/** Requests to a route, good and broken. */
export function trialsOf(trying: FuzzCase): fc.Arbitrary<Trial> {
  const { route, operation } = trying
  const repeats = operation?.parameters?.some(({ name }) => name === 'Idempotency-Key') ?? false
  return fc.nat(trying.objects.length - 1).chain((who) =>
    fc
      .record({
        path: paths(trying, trying.objects[who] ?? { ids: [] }),
        query: queries(trying),
        body: bodies(trying),
        type: contentType,
        key: repeats ? idempotencyKey : fc.constant(null),
      })
      .map(({ path, query, body, type, key }) => ({
        path: query === '' ? path : `${path}?${query}`,
        method: route.method,
        headers: {
          ...(body !== undefined && type !== '' && { 'content-type': type }),
          ...(key !== null && { 'idempotency-key': key }),
        },
        body,
        who,
      })),
  )
}
