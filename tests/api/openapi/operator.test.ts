import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { openApiStructure } from './structure'
import { allRoutes, type Operation } from '../authorization/routes'
import { startGateway, type Gateway } from '../../harness/server'

const root = join(import.meta.dir, '../../..')
const text = await Bun.file(join(root, 'openapi-operator.json')).text()
interface Described extends Operation {
  operationId: string
  summary: string
  security: object[]
  tags: string[]
}
const document: {
  tags: { name: string }[]
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, object> }
} = JSON.parse(text)
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway?.[Symbol.asyncDispose]())

describe('N7: openapi-operator.json', () => {
  test('has every route of operators, and no other', () => {
    const routes = allRoutes().filter(({ path }) => path.startsWith('/api/admin/'))
    const wanted = routes.map(
      ({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    )
    expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      wanted.toSorted(),
    )
    expect(wanted.length).toBeGreaterThanOrEqual(60)
  })

  test('matches the served document, byte for byte; the public one has none of it', async () => {
    const served = await fetch(`${gateway.url}/openapi-operator.json`)
    expect(served.headers.get('content-type')).toStartWith('application/json')
    expect(await served.text()).toBe(text)
    expect(await (await fetch(`${gateway.url}/openapi.json`)).text()).not.toContain('/api/admin')
  })

  test('has the structure of OpenAPI 3.1, and schemas that are used and can be compiled', () => {
    const judge = new Ajv2020({ strict: false, allErrors: true }).compile(openApiStructure)
    judge(document)
    expect(judge.errors ?? []).toEqual([])
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'interface', components: document.components })
    for (const name of Object.keys(document.components.schemas)) {
      expect(ajv.getSchema(`interface#/components/schemas/${name}`)).toBeFunction()
      expect(text).toContain(`"#/components/schemas/${name}"`)
    }
  })

  test.each(operations)('$method $path is described', ({ path, operation }) => {
    const { security, tags, responses, parameters = [], summary } = operation
    expect(summary.length).toBeGreaterThan(5)
    expect(security).toEqual([{ operatorKey: [] }])
    expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining(tags))
    for (const status of ['400', '403', '404', '500', '503']) {
      expect(responses).toHaveProperty(status)
    }
    for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
      expect(parameters).toContainEqual(expect.objectContaining({ name, in: 'path' }))
    }
  })

  test('has a page for people, which loads it and nothing from elsewhere', async () => {
    const page = await fetch(`${gateway.url}/docs/operator`)
    expect(page.headers.get('content-type')).toStartWith('text/html')
    const html = await page.text()
    expect(html).not.toMatch(/(?:https?:)?\/\/[a-z]/)
    const [, script] = /src="(\/docs\/start[^"]*)"/.exec(html) ?? []
    expect(await (await fetch(`${gateway.url}${script}`)).text()).toContain(
      "'/openapi-operator.json'",
    )
  })
})
