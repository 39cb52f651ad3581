import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createModelFixture, type Fixture } from '../../harness/byok'
import { kindsOf } from '../authorization/cells'
import { bodies } from '../authorization/rules'
import {
  describeAllRoutes,
  allRoutes,
  exampleOf,
  operationOf,
  pathOf,
  type Description,
  type Operation,
  type Route,
} from '../authorization/routes'
import type { Json } from '../../harness/http'

let fixture: Fixture
let description: Description

beforeAll(async () => {
  fixture = await createModelFixture()
  const rates = { api_requests_per_minute: 1_000_000 }
  await fixture.gateway.admin('PUT', '/config', { rates })
  description = await describeAllRoutes(fixture.gateway)
}, 120_000)
afterAll(() => fixture?.[Symbol.asyncDispose]())

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A schema, or the component that it names. */
function resolved(schema: Json | undefined): Json {
  const name = /[^/]+$/.exec(JSON.stringify(schema?.['$ref'] ?? '').slice(1, -1))?.[0]
  return (name && description.components.schemas[name]) || schema || {}
}

const schemaOf = (operation: Operation | undefined) =>
  resolved(operation?.requestBody?.content['application/json']?.schema)

/** Whether a schema says that a value may be null; an empty one says that of everything. */
function takesNull(schema: Json): boolean {
  const { type, anyOf, oneOf, $ref } = schema
  if ($ref !== undefined) return takesNull(resolved(schema))
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return choices.some((one) => isJson(one) && takesNull(one))
  return type === undefined ? true : [type].flat().includes('null')
}

async function send(route: Route, body: Json | undefined) {
  const [kind] = kindsOf(route)
  if (!kind) throw new Error(`${route.name} has no kind`)
  const { owner, ids } = await kind.make(fixture)
  const key = route.class === 'operator' ? fixture.gateway.adminKey : owner.key
  const response = await fetch(`${fixture.gateway.url}${pathOf(route, ids)}`, {
    method: route.method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  // An answer of sound is no JSON; its rejection is.
  const isJsonText = text !== '' && (!response.ok || text.startsWith('{'))
  const answer: Json = isJsonText ? JSON.parse(text) : {}
  const error = isJson(answer['error']) ? answer['error'] : {}
  const details = isJson(error['details']) ? error['details'] : {}
  return { status: response.status, param: error['param'], issue: details['issue'] }
}

const withBody = allRoutes().filter(
  ({ method, path }) => /^(POST|PUT|PATCH)$/.test(method) && /^\/api\/(?!auth|webhooks)/.test(path),
)

describe.each(withBody.map((route) => [route.name, route] as const))(
  'finding S10: %s',
  (_name, route) => {
    test('accepts null for an optional field exactly as its description states', async () => {
      const operation = operationOf(description, route)
      const { properties, required } = schemaOf(operation)
      if (!isJson(properties)) return
      const names = Object.keys(properties).filter(
        (name) => !(Array.isArray(required) && required.includes(name)),
      )
      const good = exampleOf(operation) ?? bodies[route.name] ?? {}
      const wrong: Json[] = []
      for (const name of names) {
        const { param, issue, status } = await send(route, { ...good, [name]: null })
        // Another rule than that of the type may speak of a field that is not there, such as "required".
        const isRefused = status === 400 && param === name && issue === 'wrong_type'
        const field = properties[name]
        const isDescribed = isJson(field) && takesNull(field)
        if (isRefused === isDescribed) wrong.push({ name, isRefused, isDescribed })
      }
      expect(wrong).toEqual([])
    })

    test('needs a body exactly as its description states', async () => {
      const operation = operationOf(description, route)
      if (!operation?.requestBody) return
      const { status, param, issue } = await send(route, undefined)
      const isMissed =
        status === 400 &&
        param === null &&
        /^(wrong_content_type|invalid_json)$/.test(String(issue))
      const isLacking = status === 400 && issue === 'required'
      expect([status, isMissed || isLacking]).toEqual([
        status,
        operation.requestBody.required ?? false,
      ])
    })
  },
)

test('finding S10: bulk prompts answer as described when they are created and deleted', () => {
  const bulk = description.paths['/api/user/prompts/bulk']?.['post']
  expect(Object.keys(bulk?.responses ?? {})).toEqual(expect.arrayContaining(['200', '201']))
})
