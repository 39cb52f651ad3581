import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { openApiStructure } from './structure'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

const root = join(import.meta.dir, '../../..')

interface Media {
  schema: Record<string, unknown>
  examples?: Record<string, { value: Record<string, unknown> }>
}
interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { description: string; content: Record<string, Media> }>
}
interface Description {
  servers: { url: string }[]
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> }
}

const text = await Bun.file(join(root, 'openapi.json')).text()
const document: Description = JSON.parse(text)
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Runs the check, against another file than the committed one if `file` is given. */
const check = (file = '') =>
  Bun.spawnSync([process.execPath, 'server/scripts/openapi.ts', '--check', file], { cwd: root })

let gateway: Gateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway()
  // An example asks for more than that.
  customer = await gateway.customer({}, { limits: { requests_per_minute: 500 } })
})
afterAll(() => gateway?.[Symbol.asyncDispose]())

/** Every object of the document with its place. */
function* objects(value: unknown, place = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [place, { ...value }]
  for (const [name, inner] of Object.entries(value)) yield* objects(inner, `${place}/${name}`)
}

/** Judges values by a schema of the document. */
const compiled = (schema: object = {}) =>
  new Ajv2020({ strict: false, validateFormats: false }).compile({
    ...schema,
    components: document.components,
  })

const places = new Set([...objects(document)].map(([place]) => place))

describe('openapi.json', () => {
  test('matches the served document, byte for byte', async () => {
    const served = await fetch(`${gateway.url}/openapi.json`)
    expect(served.headers.get('content-type')).toStartWith('application/json')
    expect(await served.text()).toBe(text)
  })

  test('matches the routes; when it is out of date, the check fails with one line', async () => {
    expect(check().exitCode).toBe(0)
    await Bun.write(join(gateway.dataDir, 'other.json'), '{}')
    const failed = check(join(gateway.dataDir, 'other.json'))
    expect(failed.exitCode).toBe(1)
    expect(failed.stderr.toString()).toMatch(/^.*is out of date\. Run: .*\n$/)
  })

  test('has the structure of OpenAPI 3.1', () => {
    const judge = new Ajv2020({ strict: false, allErrors: true }).compile(openApiStructure)
    judge(document)
    expect(judge.errors ?? []).toEqual([])
  })

  test('every $ref leads somewhere', () => {
    const references = [...objects(document)].flatMap(([, { $ref }]) =>
      typeof $ref === 'string' ? [$ref] : [],
    )
    expect(references.length).toBeGreaterThan(20)
    expect(references.filter((it) => !places.has(it))).toEqual([])
  })

  test('no component is without use', () => {
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    )
    expect(unused).toEqual([])
  })

  test('operation ids and tags are unique and known', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = new Set(document.tags.map(({ name }) => name))
    expect(
      operations.flatMap(({ operation }) => operation.tags).every((tag) => tags.has(tag)),
    ).toBe(true)
  })

  test('every schema is one of JSON schema 2020-12', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'interface', components: document.components })
    for (const name of Object.keys(document.components.schemas)) {
      expect(ajv.getSchema(`interface#/components/schemas/${name}`)).toBeFunction()
    }
    for (const { operation } of operations) {
      const bodies = [operation.requestBody, ...Object.values(operation.responses)]
      for (const { schema } of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
        expect(ajv.validateSchema(schema)).toBe(true)
      }
    }
  })

  test('an example of a component is one of its values', () => {
    const examples = Object.values(document.components.schemas).flatMap((schema) =>
      'examples' in schema && Array.isArray(schema.examples)
        ? schema.examples.map((value: unknown) => ({ schema, value }))
        : [],
    )
    expect(examples.length).toBeGreaterThanOrEqual(4)
    for (const { schema, value } of examples) expect(compiled(schema)(value)).toBe(true)
  })

  test('no description contains text that Markdown would drop as a tag', () => {
    const words = [...objects(document)].flatMap(([, { description }]) =>
      typeof description === 'string' ? [description.replaceAll(/`[^`]*`/g, '')] : [],
    )
    expect(words.length).toBeGreaterThan(20)
    expect(words.filter((text) => /(?<!\\)<\w/.test(text))).toEqual([])
  })

  test('no bound is the largest integer, which would have no meaning', () => {
    expect(text).not.toContain(String(Number.MAX_SAFE_INTEGER))
  })
})

const isSound = ({ headers }: Response) =>
  /^(?:audio|text)\//.test(headers.get('content-type') ?? '')

describe('each route', () => {
  test('the model endpoints exist, also for a single model', () => {
    const known = operations.map(({ method, path }) => `${method} ${path}`)
    expect(known.filter((name) => name.includes(' /v1/')).toSorted()).toEqual([
      'delete /v1/conversations/{conversation_id}',
      'delete /v1/conversations/{conversation_id}/items/{item_id}',
      'delete /v1/responses/{response_id}',
      'get /v1/conversations/{conversation_id}',
      'get /v1/conversations/{conversation_id}/items',
      'get /v1/conversations/{conversation_id}/items/{item_id}',
      'get /v1/models',
      'get /v1/models/count',
      'get /v1/models/{model_id}',
      'get /v1/responses/{response_id}',
      'get /v1/responses/{response_id}/input_items',
      'post /v1/audio/speech',
      'post /v1/audio/transcriptions',
      'post /v1/audio/translations',
      'post /v1/chat/completions',
      'post /v1/completions',
      'post /v1/conversations',
      'post /v1/conversations/{conversation_id}',
      'post /v1/conversations/{conversation_id}/items',
      'post /v1/embeddings',
      'post /v1/images/edits',
      'post /v1/images/generations',
      'post /v1/images/variations',
      'post /v1/messages',
      'post /v1/messages/count_tokens',
      'post /v1/moderations',
      'post /v1/rerank',
      'post /v1/responses',
      'post /v1/responses/{response_id}/cancel',
    ])
  })

  test.each(operations)('$method $path names its permitted callers and its errors', (route) => {
    const { security, responses, parameters = [] } = route.operation
    const isPublic = route.path.startsWith('/api/public/')
    expect(security).toEqual(isPublic ? [] : [{ apiKey: [] }])
    const statuses = isPublic ? ['429', '500', '503'] : ['401', '403', '500', '503']
    if (route.method === 'post' && /^\/v1\/(?!conversations|responses\/)/.test(route.path))
      statuses.push('400', '402', '404', '502', '504')
    for (const status of statuses) expect(responses).toHaveProperty(status)
    for (const [, name] of route.path.matchAll(/\{(\w+)\}/g)) {
      expect(parameters).toContainEqual(expect.objectContaining({ name, in: 'path' }))
    }
    for (const [status, { content }] of Object.entries(responses)) {
      if (status === '200' || status === '201') continue
      expect(JSON.stringify(content['application/json']?.schema)).toMatch(/Error"/)
    }
  })

  test.each(operations)('$method $path has a summary and a description', ({ operation }) => {
    expect(operation.summary.length).toBeGreaterThan(5)
    expect(operation.description.length).toBeGreaterThan(20)
  })

  // What needs something that is there first, or a wider key, is tried by tests of its own.
  const tried = operations.filter(
    ({ method, path }) => method === 'post' && /^\/(v1|api\/user)\/[^{]+$/.test(path),
  )

  test.each(tried)(
    '$method $path: its examples work as they are and answer as described',
    async ({ path, operation }) => {
      const { examples = {} } = operation.requestBody?.content['application/json'] ?? {}
      const success = '201' in operation.responses ? 201 : 200
      for (const { value } of Object.values(examples)) {
        const response = await gateway.recorder.fetch(`${gateway.url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(value),
        })
        expect(response.status).toBe(success)
        const answer = await response.text()
        if (value['stream'] || isSound(response)) continue
        const described = operation.responses[success]?.content['application/json']?.schema
        const validAnswer = compiled(described)
        expect(validAnswer(JSON.parse(answer))).toBe(true)
      }
      gateway.recorder.verify()
    },
  )

  test('an error answers as described', async () => {
    const response = await fetch(`${gateway.url}/v1/models`)
    const described = operations.find(({ path }) => path === '/v1/models')?.operation.responses
    const schema = described?.['401']?.content['application/json']?.schema
    expect(compiled(schema)(await response.json())).toBe(true)
  })
})

describe('/docs', () => {
  test('loads everything from this gateway', async () => {
    const page = await fetch(`${gateway.url}/docs`)
    expect(page.headers.get('content-security-policy')).toStartWith("default-src 'none'")
    const html = await page.text()
    expect(html).not.toMatch(/(?:https?:)?\/\/[a-z]/)
    const assets = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? '')
    expect(assets).toHaveLength(4)
    for (const asset of assets) {
      const response = await fetch(`${gateway.url}${asset}`)
      expect(response.status).toBe(200)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      const body = await response.text()
      if (asset.endsWith('.css')) expect(body).not.toMatch(/url\(['"]?(?:https?:)?\/\//)
      if (/start|theme/.test(asset)) expect(body).not.toMatch(/https?:\/\//)
    }
  })

  test('serves no other file', async () => {
    for (const name of ['package.json', '..%2fpackage.json', 'swagger-ui.js.map', 'constructor']) {
      const response = await gateway.recorder.fetch(`${gateway.url}/docs/${name}`)
      expect(response.status).toBe(404)
    }
    gateway.recorder.verify()
  })
})
