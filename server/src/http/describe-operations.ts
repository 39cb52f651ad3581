import { AnswerSample, type Components, type Described } from './answer-sample'
import type { Access, Registered } from './guards'
import { operationNotes } from './operation-notes'

interface Media {
  schema?: Described
  examples?: object
}

interface Operation {
  operationId?: string
  description?: string
  requestBody?: { required?: boolean; content?: Record<string, Media> }
  responses?: Record<string, { content?: Record<string, Media> }>
}

/** The parts of the description that are completed here. */
export interface Description {
  paths?: Record<string, Record<string, Operation>>
  components?: { schemas?: Components }
}

const kilobyte = 1024

/** `/api/keys/:id{.+}` -> `/api/keys/{id}` */
const pathOf = (route: string) => route.replaceAll(/:(\w+)(?:\{[^/]*\})?/g, '{$1}')

const permissionWords = ({ class: kind, permission }: Access): string => {
  if (kind === 'public') return 'Needs no key.'
  if (kind === 'operator') return 'For operators.'
  return permission === undefined ? '' : `Needs the permission \`${permission}\`.`
}

function bodyWords({ bodyBytes }: Access, { requestBody }: Operation): string {
  if (!bodyBytes || requestBody === undefined) return ''
  const most = bodyBytes / kilobyte
  return `A body may have ${most < kilobyte ? `${most} KB` : `${most / kilobyte} MB`}.`
}

/** Completes each operation: adds notes and access, and an example of each answer that has none. */
export function complete(description: Description, routes: readonly Registered[]): void {
  const sample = new AnswerSample(description.components?.schemas ?? {})
  const accessOf = new Map(
    routes.map(({ method, path, access }) => [`${method.toLowerCase()} ${pathOf(path)}`, access]),
  )
  for (const [path, methods] of Object.entries(description.paths ?? {})) {
    for (const [method, operation] of Object.entries(methods)) {
      const [access] = accessOf.get(`${method} ${path}`) ?? []
      const words = [
        operation.description,
        operationNotes[operation.operationId ?? ''],
        access && permissionWords(access),
        access && bodyWords(access, operation),
      ]
      operation.description = words.filter(Boolean).join(' ')
      if (path.startsWith('/api/')) describeBody(operation, method, description.components?.schemas)
      addExamples(operation, sample)
    }
  }
}

/**
 * Documents the body rules of `/api`: a POST takes null for an optional field and, without required fields, no
 * body; any other method needs a field. Source: contract 1.1, 1.2.
 */
function describeBody({ requestBody }: Operation, method: string, components: Components = {}) {
  if (!requestBody) return
  if (method !== 'post') {
    requestBody.required = true
    return
  }
  const schema = requestBody.content?.['application/json']?.schema
  const { properties = {}, required = [] } =
    components[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema ?? {}
  for (const [name, field] of Object.entries(properties)) {
    if (!required.includes(name)) properties[name] = orNull(field)
  }
}

const isNullable = ({ type, anyOf, enum: values }: Described): boolean =>
  [type].flat().includes('null') || (anyOf?.some(isNullable) ?? values?.includes(null) ?? false)

/** Makes a schema nullable, and keeps its description and its default where readers look for them. */
function orNull(schema: Described): Described {
  // An empty schema takes anything.
  if (isNullable(schema) || !(schema.type ?? schema.anyOf ?? schema.oneOf ?? schema.$ref))
    return schema
  if (typeof schema.type === 'string' && !schema.enum && !('const' in schema)) {
    return { ...schema, type: [schema.type, 'null'] }
  }
  const { description, default: usual, ...rest } = schema
  return {
    ...(description !== undefined && { description }),
    ...(usual !== undefined && { default: usual }),
    anyOf: [...(rest.anyOf ?? [rest]), { type: 'null' }],
  }
}

function addExamples({ responses = {} }: Operation, sample: AnswerSample): void {
  for (const [status, { content = {} }] of Object.entries(responses)) {
    const media = status.startsWith('2') ? content['application/json'] : undefined
    if (!media?.schema || media.examples !== undefined) continue
    media.examples = { answer: { summary: 'An answer', value: sample.of(media.schema) } }
  }
}
