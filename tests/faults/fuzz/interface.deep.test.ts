import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { eventuallyReads } from '../../../server/testing/eventually'
import * as fc from '../../../server/testing/property'
import { trialsOf, type Trial, type FuzzCase } from './requests'
import { kindsOf, objectPath } from '../../api/authorization/cells'
import { bodies } from '../../api/authorization/rules'
import {
  describeAllRoutes,
  allRoutes,
  exampleOf,
  operationOf,
  pathOf,
  type Description,
  type Route,
} from '../../api/authorization/routes'
import { createModelFixture, type Fixture } from '../../harness/byok'
import type { Json } from '../../harness/http'
import { refusalProblems } from '../../harness/rules/errors'

/**
 * Every route with requests that its description allows, and with such that are broken: no
 * request is answered with 500, or with what the description does not have.
 * `FUZZ_RUNS` is the number of requests a route, `FUZZ_SEED` says which (the same ones wherever it is
 * not set; `npm run fuzz` draws new ones), and `FUZZ_SECONDS` is what all of it takes at most.
 */
const runs = Number(process.env['FUZZ_RUNS'] ?? 40)
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 60)
const seed = Number(process.env['FUZZ_SEED'] ?? 20261122)

let fixture: Fixture
let description: Description
let ajv: Ajv2020

// The operator's settings last, as they change the others.
const isLast = ({ path }: Route) => Number(path === '/api/admin/config')
const routes = allRoutes()
  // The library's own endpoints and those of SCIM have statuses and bodies of their own. Source: contract 2.5, 2.6.
  .filter(({ path }) => !/^\/(docs|api\/auth|scim)\b/.test(path))
  .toSorted((a, b) => isLast(a) - isLast(b))
// The first of a route may load what others did not need; none of it done would be a failure.
const limitMs = Math.max(2000, (seconds * 1000) / routes.length)
const plenty = 1_000_000
const tally = { sent: 0, succeeded: 0 }

beforeAll(async () => {
  console.log(`FUZZ_SEED=${seed} FUZZ_RUNS=${runs}`)
  fixture = await createModelFixture()
  await fixture.gateway.admin('PUT', '/config', {
    rates: { api_requests_per_minute: plenty, public_requests_per_minute: plenty },
  })
  description = await describeAllRoutes(fixture.gateway)
  ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'interface', components: description.components })
})
afterAll(() => fixture[Symbol.asyncDispose]())

async function tryingOf(route: Route): Promise<FuzzCase> {
  const objects = []
  for (const kind of kindsOf(route))
    objects.push(await kind.make(fixture), await kind.make(fixture))
  const operation = operationOf(description, route)
  if (route.class === 'models') {
    for (const { owner } of objects) {
      const grant = { user_id: owner.userId, amount: 1000, reason: 'A test.' }
      await fixture.gateway.admin('POST', '/credits/grant', grant)
    }
  }
  return { route, description, operation, body: bodies[route.name], objects }
}

/** Judges bodies by the description of an operation, one status at a time. */
function judgeOf(operation: FuzzCase['operation']) {
  const judges = new Map<number, ValidateFunction>()
  return (status: number, body: unknown): string[] => {
    const schema = operation?.responses[status]?.content?.['application/json']?.schema
    if (!schema) return [`status ${status} is not described`]
    const judge =
      judges.get(status) ??
      ajv.compile(
        JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"interface#/components')),
      )
    judges.set(status, judge)
    return judge(body)
      ? []
      : (judge.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
  }
}

async function send(
  { route, objects }: FuzzCase,
  { path, method, headers, body, who }: Trial,
): Promise<Response> {
  const key = route.class === 'operator' ? fixture.gateway.adminKey : objects[who]?.owner.key
  tally.sent += 1
  const response = await fixture.gateway.recorder.fetch(`${fixture.gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(body !== undefined && method !== 'GET' && { body }),
  })
  if (response.ok) tally.succeeded += 1
  return response
}

const isStream = (response: Response) =>
  response.headers.get('content-type')?.startsWith('text/event-stream') ?? false

/** An export: JSON, a line each. */
const isLines = (response: Response) =>
  response.headers.get('content-type')?.startsWith('application/x-ndjson') ?? false

/** Fields with commas are quoted. */
const csvField = /"(?:[^"]|"")*"|[^",\r\n]+|(?<=,|^)(?=,|$)/gm

/** A file of lines that have as many fields as the first one. */
function csvProblems({ ok, status }: Response, text: string): string[] {
  if (!ok) return [`CSV with status ${status}`]
  const widths = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.match(csvField)?.length ?? 0)
  return widths.every((width) => width === widths[0]) ? [] : [`no CSV: ${text.slice(0, 100)}`]
}

const isCsv = (response: Response) =>
  response.headers.get('content-type')?.startsWith('text/csv') ?? false

const isPage = (response: Response) =>
  response.headers.get('content-type')?.startsWith('text/html') ?? false

/** A page is whole, and runs no scripts, also by its policy. */
function pageProblems({ ok, status, headers }: Response, text: string): string[] {
  if (!ok) return [`a page with status ${status}`]
  const isWhole = text.startsWith('<!doctype html>') && text.trimEnd().endsWith('</html>')
  const policy = headers.get('content-security-policy') ?? ''
  const isInert = policy.includes("default-src 'none'") && !/<script/i.test(text)
  return isWhole && isInert ? [] : [`no page: ${text.slice(0, 100)}`]
}

const isSound = (response: Response) =>
  response.headers.get('content-type')?.startsWith('audio/') ?? false

function jsonProblems(text: string): string[] {
  try {
    JSON.parse(text)
    return []
  } catch {
    return [`no JSON: ${text.slice(0, 100)}`]
  }
}

/** What is wrong with an answer. */
function problemsOf(
  response: Response,
  text: string,
  judge: ReturnType<typeof judgeOf> | undefined,
) {
  if (response.status >= 500) return [`status ${response.status}: ${text.slice(0, 200)}`]
  if (isStream(response)) return []
  if (isCsv(response)) return csvProblems(response, text)
  if (isPage(response)) return pageProblems(response, text)
  if (isSound(response)) return response.ok ? [] : [`sound with status ${response.status}`]
  if (isLines(response))
    return text
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => jsonProblems(line))
  const problems = jsonProblems(text)
  if (problems.length > 0) return problems
  const answer: unknown = JSON.parse(text)
  if (judge) return judge(response.status, answer)
  return response.ok ? [] : refusalProblems(response, text)
}

/** A route, whatever its parameters are called. */
const unnamed = (name: string) => name.replaceAll(/:\w+/g, ':')

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** For about 800 requests, one after the other, with those that make what the paths name. */
const allMethodsMs = 300_000

/** Sends each method that no route has to each path; returns the answers that are not those of a missing route. */
async function callUndefinedMethods(): Promise<Json[]> {
  const known = new Set(routes.map(({ name }) => name))
  const nameless = new Set(routes.map(({ name }) => unnamed(name)))
  const wrong: Json[] = []
  for (const path of new Set(routes.map((route) => route.path))) {
    const [one] = routes.filter((route) => route.path === path)
    if (!one) continue
    const trying = await tryingOf(one)
    for (const method of methods) {
      if (known.has(`${method} ${path}`)) continue
      const named = path.replaceAll(/:\w+/g, 'never')
      const trial = { path: named, method, headers: {}, body: undefined, who: 0 }
      const { status } = await send(trying, trial)
      const isLike = method === 'HEAD' && known.has(`GET ${path}`)
      // A literal part of a path is an id to the methods that only its neighbours have.
      const isId = nameless.has(unnamed(`${method} ${path.replace(/[^/]+$/, ':id')}`))
      const expected = isLike || isId || method === 'OPTIONS' ? [200, 400, 404] : [404]
      if (!expected.includes(status)) wrong.push({ method, path, status })
    }
  }
  return wrong
}

test(
  'an undefined method of a path is a missing route',
  async () => expect(await callUndefinedMethods()).toEqual([]),
  allMethodsMs,
)

describe.each(routes.map((route) => [route.name, route] as const))('%s', (_name, route) => {
  test(`holds for every request`, async () => {
    const trying = await tryingOf(route)
    const judge = trying.operation && judgeOf(trying.operation)
    const property = fc.asyncProperty(trialsOf(trying), async (trial) => {
      const read = async () => {
        const response = await send(trying, trial)
        return { response, text: await response.text() }
      }
      // A database that a busy machine keeps silent for 0.8 s is a 503 to a caller, as D01 promises, who sends it again.
      const { response, text } = await eventuallyReads(read, (one) => one.response.status !== 503)
      expect(problemsOf(response, text, judge)).toEqual([])
      fixture.gateway.recorder.verify()
    })
    await fc.assert(property, { numRuns: runs, seed, interruptAfterTimeLimit: limitMs })
  })
})

/** Objects by the path to their id, and all routes that name them. */
const sharing = [...Map.groupBy(routes, objectPath)].filter(([path]) => path.includes(':'))

test.each(sharing)('%s: concurrent requests do not block each other', async (path, together) => {
  const [first] = together
  for (const kind of first ? kindsOf(first) : []) {
    for (let round = 0; round < 15; round++) {
      const objects = [await kind.make(fixture)]
      const sent = together.flatMap((route) => {
        const operation = operationOf(description, route)
        const body =
          route.method === 'GET' ? undefined : (exampleOf(operation) ?? bodies[route.name])
        const trial = {
          path: pathOf(route, objects[0]?.ids ?? []),
          method: route.method,
          headers: { 'content-type': 'application/json' },
          body: body && JSON.stringify(body),
          who: 0,
        }
        return [trial, trial, trial].map((one) =>
          send({ route, description, operation, body, objects }, one),
        )
      })
      const answers = await Promise.all(sent)
      const broken = answers.filter(({ status }) => status >= 500)
      expect([path, await Promise.all(broken.map((one) => one.text()))]).toEqual([path, []])
    }
  }
})

test('not all of it was rejected', () => {
  console.log(`${tally.succeeded} of ${tally.sent} requests were good`)
  expect(tally.succeeded).toBeGreaterThan(tally.sent / 20)
})
