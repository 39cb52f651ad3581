import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { keyOf, refusedCallers, type Refused } from './callers'
import { absentIds, kindsOf, noObject, objectPath } from './cells'
import type { Kind, CreatedObject } from './kind'
import { kinds } from './objects'
import {
  allRoutes,
  describeRoutes,
  exampleOf,
  operationOf,
  pathOf,
  type Description,
  type Route,
} from './routes'
import { bodies, openRoutes, refusesOwner } from './rules'
import { sampled } from '../../../server/testing/depth'
import { eventuallyReads } from '../../../server/testing/eventually'
import { createModelFixture, type Fixture } from '../../harness/byok'
import { sendRequest, type Answer, type Failure, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/**
 * A01 to A05: every route that there is, by every caller that there can be, on every object that it
 * can name; each sixth route in `npm test`. A route that is added is tried by itself; what it needs for it stands in `objects.ts`.
 */

let fixture: Fixture
let described: Description
let refused: Refused[]
let stranger: Customer

const routes = allRoutes()
const behindKey = routes.filter(({ class: one }) => one === 'api' || one === 'models')
const ofOperator = routes.filter(({ class: one }) => one === 'operator')

const plenty = 1_000_000

beforeAll(async () => {
  fixture = await createModelFixture()
  const { gateway } = fixture
  await gateway.admin('PUT', '/config', {
    rates: { api_requests_per_minute: plenty, public_requests_per_minute: plenty },
  })
  described = await describeRoutes(gateway)
  refused = await refusedCallers(gateway)
  stranger = await fixture.newCustomer()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

const bodyOf = (route: Route): Json | undefined =>
  route.method === 'GET' || route.method === 'DELETE'
    ? undefined
    : (exampleOf(operationOf(described, route)) ?? bodies[route.name] ?? {})

function send(route: Route, key: string | undefined, ids: readonly string[] = []) {
  const body = bodyOf(route)
  return sendRequest(fixture.gateway, {
    path: pathOf(route, ids),
    method: route.method,
    ...(key !== undefined && { key }),
    ...(body && { body }),
  })
}

/** Errors of Anthropic's format have a type alone. */
const inOthersWords = ({ path }: Route) => path.startsWith('/v1/messages')
const codeOf = ({ code, type }: Failure) => code ?? type

/** The part of an answer that the caller judges: its status and error. */
const outcome = ({ status, error }: Answer) => ({ status, error })
const isSuccess = ({ status }: Answer) => status < 400

/** Makes one and takes it away again; undefined where that cannot be done. */
async function deleted(route: Route, kind: Kind): Promise<CreatedObject | undefined> {
  const removal = routes.find(({ name }) => name === `DELETE ${objectPath(route)}`)
  if (!removal || refusesOwner[removal.name]) return undefined
  const made = await kind.make(fixture)
  const key = removal.class === 'operator' ? fixture.gateway.adminKey : made.owner.key
  const answer = await send(removal, key, made.ids)
  if (!isSuccess(answer)) throw new Error(`${removal.name}: ${answer.text}`)
  return made
}

/** Paths that lead to nothing: the ids of `made` but for the last, and what was deleted. */
async function lost(route: Route, kind: Kind, made: CreatedObject): Promise<string[][]> {
  const before = made.ids.slice(0, -1)
  const gone = await deleted(route, kind)
  return [
    ...absentIds(made, kind).map((id) => [...before, id]),
    ...(gone ? [[...before, gone.ids.at(-1) ?? '']] : []),
  ]
}

test('every route behind a key is described, and every description is one of a route', () => {
  const isDescribed = (route: Route) => operationOf(described, route) !== undefined
  expect(behindKey.filter((route) => !isDescribed(route)).map(({ name }) => name)).toEqual([])
  const known = new Set(
    routes.filter(isDescribed).map(({ name }) => name.replaceAll(/:(\w+)/g, '{$1}')),
  )
  const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(operations.filter((name) => !known.has(name))).toEqual([])
  expect(operations.length).toBeGreaterThan(30)
})

test('every public route is on the list of permitted ones', () => {
  const open = routes.filter((route) => route.class === 'open').map(({ name }) => name)
  expect(open.filter((name) => !openRoutes.some((allowed) => allowed.test(name)))).toEqual([])
})

describe.each(sampled(behindKey, 6).map((route) => [route.name, route] as const))(
  '%s',
  (_name, route) => {
    const { permission = 'read' } = route

    test('admits exactly the permitted callers', async () => {
      for (const kind of kindsOf(route)) {
        const { owner, ids } = await kind.make(fixture)
        const answers = await Promise.all(refused.map(({ key }) => send(route, key, ids)))
        expect(answers.map(({ status, error }) => [status, codeOf(error)])).toEqual(
          refused.map(({ code }) => [401, inOthersWords(route) ? 'authentication_error' : code]),
        )
        for (const held of [['read'], ['write'], ['read', 'write']]) {
          if (held.includes(permission)) continue
          const less = await send(route, await keyOf(fixture.gateway, owner, held), ids)
          expect(less.status).toBe(403)
          const details = { required: [permission], current: held }
          if (inOthersWords(route)) expect(codeOf(less.error)).toBe('permission_error')
          else expect(less.error).toMatchObject({ code: 'insufficient_permissions', details })
        }
        // Last: it shows that the object is still there, and is what all the others were refused.
        const own = await send(route, owner.key, ids)
        expect([route.name, own.text, [401, 403, 500].includes(own.status)]).toEqual([
          route.name,
          own.text,
          false,
        ])
        if (ids.length > 0 && !refusesOwner[route.name]) expect(own.status).not.toBe(404)
      }
    })

    if (route.parameters.length === 0) return

    test("answers the same for another account's object and for a missing one", async () => {
      for (const kind of kindsOf(route)) {
        const [made, other] = [await kind.make(fixture), await kind.make(fixture)]
        const paths = await lost(route, kind, made)
        const [never = made.ids] = paths
        const unknown = outcome(await send(route, stranger.key, never))
        expect(unknown).toMatchObject({
          status: 404,
          error: { type: 'not_found_error' },
        })
        const foreign = kind.isPublic ? [] : [made.ids]
        for (const ids of [...paths, ...foreign]) {
          expect([ids, outcome(await send(route, stranger.key, ids))]).toEqual([ids, unknown])
        }
        // An object of one's own does not open the way to one of others.
        const mixed = kind.isPublic ? [] : [[...made.ids.slice(0, -1), other.ids.at(-1) ?? '']]
        for (const ids of [...paths, ...mixed]) {
          expect([ids, outcome(await send(route, made.owner.key, ids))]).toEqual([ids, unknown])
        }
      }
    })

    test('is rejected for viewers', async () => {
      if (route.method === 'GET') return
      for (const kind of kindsOf(route)) {
        const { viewer, ids } = await kind.make(fixture)
        if (!viewer) continue
        const answer = await send(route, viewer.key, ids)
        expect([answer.status, answer.error.code]).toEqual([403, 'insufficient_permissions'])
      }
    })
  },
)

/** Lists, and how to make what is in them. */
const lists = behindKey.flatMap((route) => {
  const [, made = []] =
    Object.entries(kinds).find(([one]) => one.replace(/\/:\w+$/, '') === route.path) ?? []
  const isList = route.method === 'GET' && route.parameters.length === 0
  const own = made.filter(({ isPublic }) => !isPublic)
  return isList && own.length > 0 ? [[route.name, route, own] as const] : []
})

test.each(lists)(
  '%s has the caller’s own objects, and nothing else',
  async (_name, route, made) => {
    for (const kind of made) {
      const { owner, ids, viewer } = await kind.make(fixture)
      const id = ids.at(-1) ?? ''
      const readers = [owner, ...(viewer ? [viewer] : [])]
      for (const { key } of readers) expect((await send(route, key)).text).toContain(id)
      expect((await send(route, stranger.key)).text).not.toContain(id)
    }
  },
)

test('public routes require no authentication', async () => {
  for (const route of routes.filter((one) => one.class === 'public')) {
    for (const key of [undefined, stranger.key, ...refused.map((one) => one.key)]) {
      const ids = route.parameters.map(() => 'never-was')
      // A database that a busy machine keeps silent for 0.8 s is a 503 to a caller, as D01 promises, who sends it again.
      const { status } = await eventuallyReads(
        () => send(route, key, ids),
        (answer) => answer.status !== 503,
      )
      const expected = route.parameters.length > 0 ? 404 : 200
      expect([route.name, status]).toEqual([route.name, expected])
    }
  }
})

describe.each(sampled(ofOperator, 6).map((route) => [route.name, route] as const))(
  '%s',
  (_name, route) => {
    test('is 404 for every caller but the operator', async () => {
      for (const kind of kindsOf(route)) {
        const { ids } = await kind.make(fixture)
        const nowhere = { ...route, path: '/api/admin/never/was', parameters: [] }
        const others = refused.filter(({ key }) => key !== fixture.gateway.adminKey)
        for (const { key } of [...others, stranger]) {
          expect(outcome(await send(route, key, ids))).toEqual(outcome(await send(nowhere, key)))
        }
        const own = await send(route, fixture.gateway.adminKey, ids)
        expect([own.text, [401, 403, 404, 500].includes(own.status)]).toEqual([own.text, false])
      }
    })

    if (route.parameters.length === 0) return

    test('answers alike for all missing objects', async () => {
      for (const kind of kindsOf(route)) {
        const paths = await lost(route, kind, await kind.make(fixture))
        const { adminKey } = fixture.gateway
        const unknown = outcome(await send(route, adminKey, paths[0]))
        expect(unknown).toMatchObject({
          status: 404,
          error: { type: 'not_found_error' },
        })
        for (const ids of paths) {
          expect([ids, outcome(await send(route, adminKey, ids))]).toEqual([ids, unknown])
        }
      }
    })
  },
)

/** Routes that read a body, and how much of it. */
const reading = routes.filter(
  ({ method, bodyBytes = 0 }) => bodyBytes > 0 && !['GET', 'DELETE'].includes(method),
)

test.each(sampled(reading, 6).map((route) => [route.name, route] as const))(
  '%s reads only as much as the contract names',
  async (_name, route) => {
    if (!hasBody(route)) return
    const [kind = noObject] = kindsOf(route)
    const { owner, ids } = await kind.make(fixture)
    const key = route.class === 'operator' ? fixture.gateway.adminKey : owner.key
    const body = JSON.stringify({ padding: 'x'.repeat(route.bodyBytes ?? 0) })
    const answer = await sendRequest(fixture.gateway, {
      path: pathOf(route, ids),
      method: route.method,
      key,
      body,
    })
    expect([answer.status, answer.error.details]).toEqual([400, { issue: 'body_too_large' }])
  },
)

const hasBody = (route: Route) =>
  route.name in bodies || exampleOf(operationOf(described, route)) !== undefined
