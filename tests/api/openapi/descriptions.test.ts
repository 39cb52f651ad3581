import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'

const root = join(import.meta.dir, '../../..')

interface Content {
  content: Record<string, { schema: object; examples?: Record<string, { value: unknown }> }>
}
interface Operation {
  operationId: string
  summary: string
  parameters: { name: string; in: string; description?: string; schema: object }[]
  requestBody?: Content
  responses: Record<string, Content>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

interface QuerySchema {
  type?: string
  anyOf?: QuerySchema[]
}

const textRules = ['enum', 'format', 'pattern', 'maxLength']

/** Whether a schema has a type and, of a text, a rule; examples are none. */
const isRestricted = (schema: QuerySchema): boolean => {
  if (schema.anyOf) return schema.anyOf.every(isRestricted)
  if (schema.type !== 'string') return schema.type !== undefined
  return textRules.some((rule) => rule in schema)
}

/** A search takes any text; its description says how much of it counts. */
const isSearch = (name: string, description: string): boolean =>
  name === 'search' && description.endsWith('; the first 100 characters count')

/** A step of a JSON pointer in a URI. */
const toPointerStep = (step: string) =>
  encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))

describe.each(['openapi.json', 'openapi-operator.json'])('%s', (file) => {
  const operations = async () => {
    const document: Document = await Bun.file(join(root, file)).json()
    const all = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    )
    return { all, document }
  }

  test('every example of a request and of a response validates against its schema', async () => {
    const { all, document } = await operations()
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'interface', ...document })
    for (const { path, method, requestBody, responses } of all) {
      const bodies = [
        ...(requestBody ? [{ steps: ['requestBody'], body: requestBody }] : []),
        ...Object.entries(responses)
          .filter(([status]) => status.startsWith('2'))
          .map(([status, body]) => ({ steps: ['responses', status], body })),
      ]
      for (const { steps, body } of bodies) {
        const type = 'application/json'
        if (!body.content[type]) continue
        const values = Object.values(body.content[type].examples ?? {}).map(({ value }) => value)
        const place = ['paths', path, method, ...steps, 'content', type, 'schema']
        expect({ place, count: values.length }).not.toEqual({ place, count: 0 })
        const isValid = ajv.getSchema(`interface#/${place.map(toPointerStep).join('/')}`)
        for (const value of values) {
          void isValid?.(value)
          expect({ place, value, errors: isValid?.errors }).toEqual({ place, value, errors: null })
        }
      }
    }
  })

  test('every query parameter has a description and a type, and each text a rule or a search bound', async () => {
    const { all } = await operations()
    const parameters = all.flatMap((operation) =>
      operation.parameters
        .filter((parameter) => parameter.in === 'query')
        .map((parameter) => ({ ...parameter, operation: operation.operationId })),
    )
    expect(parameters.length).toBeGreaterThan(20)
    const wrong = parameters.filter(
      ({ name, description = '', schema }) =>
        !description || !(isRestricted(schema) || isSearch(name, description)),
    )
    expect(wrong.map(({ operation, name }) => `${operation} ${name}`)).toEqual([])
  })

  test('finding N15: every summary begins with one usual verb, which fits its method', async () => {
    const { all } = await operations()
    const verbs: Record<string, RegExp> = {
      get: /^(List|Get|Export|Audit) /,
      delete: /^(Delete|Remove|Revoke) /,
      put: /^(Update|Set) /,
      patch: /^Update /,
      post: /^(Create|Add|Update|Replace|Send|Start|Cancel|Complete|Test|Count|Estimate|Preview|Apply|Invite|Resend|Accept|Decline|Approve|Reject|Request|Suspend|Reinstate|Acknowledge|Mark|Rotate|Rate|Grant|Adjust) /,
    }
    const wrong = all.filter(({ method, summary }) => !verbs[method]?.test(summary))
    expect(wrong.map(({ method, path, summary }) => `${method} ${path}: ${summary}`)).toEqual([])
  })

  test('finding N15: every summary is one plain phrase', async () => {
    const { all } = await operations()
    const odd =
      /[.?!:;]|\b(what|who|whom|whose|where|have it|any more|told|tells?|asked|nobody|whoever)\b/i
    const summaries = all.map(({ summary }) => summary)
    expect(summaries.filter((one) => odd.test(one) || one.length > 70)).toEqual([])
  })
})
